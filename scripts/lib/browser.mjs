/** The browser of the tests: an installed Chromium or Chrome, else Debian's package, else Playwright's own download, else none. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { installDebianPackage } from './debian.mjs';
import { ROOT, runPackage } from './run.mjs';

/** Where the three systems put the program. */
function usualPlaces() {
  const { env, platform } = process;
  if (platform === 'win32') {
    const folders = [env.PROGRAMFILES, env['PROGRAMFILES(X86)'], env.LOCALAPPDATA].filter((folder) => folder !== undefined);
    return folders.flatMap((folder) => [join(folder, 'Google', 'Chrome', 'Application', 'chrome.exe'), join(folder, 'Chromium', 'Application', 'chrome.exe')]);
  }
  if (platform === 'darwin') {
    const folders = ['/Applications', join(env.HOME ?? '', 'Applications')];
    return folders.flatMap((folder) => [join(folder, 'Google Chrome.app/Contents/MacOS/Google Chrome'), join(folder, 'Chromium.app/Contents/MacOS/Chromium')]);
  }
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
  return (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '').flatMap((folder) => names.map((name) => join(folder, name)));
}

/** The Chromium that Playwright has downloaded, if any; playwright-core is there once the dependencies are. */
function playwrightsOwn() {
  try {
    return createRequire(join(ROOT, 'package.json'))('playwright-core').chromium.executablePath();
  } catch {
    return undefined;
  }
}

const firstExisting = (paths) => paths.find((path) => path !== undefined && path !== '' && existsSync(path));

/** The path of a browser that is there: the named one, else one in its usual place; undefined where there is none. */
export function installedBrowser() {
  const named = process.env.CONTRACTRL_CHROMIUM;
  if (named !== undefined && named !== '') {
    if (existsSync(named)) return named;
    console.error(`CONTRACTRL_CHROMIUM names ${named}, which does not exist; looking elsewhere.`);
  }
  return firstExisting([...usualPlaces(), playwrightsOwn()]);
}

/** Resolves to the path of a browser, installing one if need be; undefined where none can be had. */
export async function findBrowser() {
  const installed = installedBrowser();
  if (installed !== undefined) return installed;
  if (await installDebianPackage('chromium')) {
    const debians = firstExisting(usualPlaces());
    if (debians !== undefined) return debians;
  }
  console.error('Downloading a Chromium for the tests (Playwright) …');
  await runPackage('playwright-core', 'playwright-core', ['install', 'chromium']);
  return firstExisting([playwrightsOwn()]);
}
