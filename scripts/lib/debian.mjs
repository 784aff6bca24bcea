/** Debian packages, where the system has apt-get and lets us use it without asking for a password. */
import { capture, run } from './run.mjs';

/** The words that start apt-get with enough rights, or undefined. */
function aptGet() {
  if (process.platform !== 'linux' || capture('apt-get', ['--version']) === undefined) return undefined;
  if (process.getuid() === 0) return ['apt-get'];
  return capture('sudo', ['-n', 'true']) === undefined ? undefined : ['sudo', '-n', 'apt-get'];
}

/** Installs one Debian package; false where that is not possible here. */
export async function installDebianPackage(name) {
  const words = aptGet();
  if (words === undefined) return false;
  const [command, ...before] = words;
  const env = { DEBIAN_FRONTEND: 'noninteractive' };
  const install = () => run(command, [...before, 'install', '-y', '-q', '--no-install-recommends', name], { env });
  console.error(`Installing the Debian package ${name} …`);
  if ((await install()) === 0) return true;
  // A bare machine has no package lists yet.
  return (await run(command, [...before, 'update', '-q'], { env })) === 0 && (await install()) === 0;
}
