/**
 * A WebGPU adapter for onnxruntime-node where the machine has none: Debian's Chromium brings a Vulkan loader and SwiftShader. The loader is
 * found through a variable that is read when a process starts, so this runs in the configuration, before any test process is made.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = '/usr/lib/chromium';

export function offerSoftwareGpu(): void {
  const driver = join(FOLDER, 'vk_swiftshader_icd.json');
  if (process.env['VK_ICD_FILENAMES'] !== undefined || !existsSync(driver) || !existsSync(join(FOLDER, 'libvulkan.so.1'))) return;
  process.env['VK_ICD_FILENAMES'] = driver;
  process.env['LD_LIBRARY_PATH'] = [process.env['LD_LIBRARY_PATH'] ?? '', FOLDER].filter((path) => path !== '').join(':');
}
