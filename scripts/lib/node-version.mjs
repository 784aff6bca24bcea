/**
 * The first thing every script asks: is this Node new enough? Syntax and imports here stay plain, so that an old Node can read
 * the file and print the sentence instead of a stack trace.
 */

const OLDEST_MAJOR = 20;
const OLDEST_MINOR = 19;

/** True where `version` ("20.19.0") can run the workspace: 20.19 or later. */
export function isSupportedNode(version) {
  const [major, minor] = version.split('.').map(Number);
  return major > OLDEST_MAJOR || (major === OLDEST_MAJOR && minor >= OLDEST_MINOR);
}

/** Ends the process with a plain sentence where Node is too old. */
export function requireNode() {
  if (isSupportedNode(process.versions.node)) return;
  console.error(`This project needs Node ${OLDEST_MAJOR}.${OLDEST_MINOR} or later; this is Node ${process.versions.node}. Install a newer one from https://nodejs.org and run the command again.`);
  process.exit(1);
}
