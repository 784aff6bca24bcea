/** Python with pip: one of the sources of the base model. Its lack is no error, because the model may come from elsewhere. */
import { installDebianPackage } from './debian.mjs';
import { capture } from './run.mjs';

const COMMANDS = process.platform === 'win32' ? [['py', '-3'], ['python']] : [['python3'], ['python']];
const hasPip = () => COMMANDS.some(([command, ...before]) => capture(command, [...before, '-m', 'pip', '--version']) !== undefined);

/** Resolves to true where pip is at hand, after installing Debian's package if need be. */
export async function findPip() {
  return hasPip() || ((await installDebianPackage('python3-pip')) && hasPip());
}
