/**
 * Where a process's memory goes: peak and resident size of each phase. On Linux both are read from `/proc`, private and mapped pages apart, and the
 * peak is set back between phases; elsewhere a phase has its resident size alone.
 */
import { readFileSync, writeFileSync } from 'node:fs';

export interface MemoryPhase {
  readonly name: string;
  /** The most while it ran. */
  readonly peakBytes: number;
  /** When it ended. */
  readonly residentBytes: number;
  /** Of that, not of files such as the program, its libraries and mapped weights; null where the system does not say. */
  readonly privateBytes: number | null;
}

export interface MemoryLog {
  readonly phases: readonly MemoryPhase[];
  /** Ends the phase that began at the last call. */
  end(name: string): void;
}

export function createMemoryLog(): MemoryLog {
  const phases: MemoryPhase[] = [];
  return {
    phases,
    end(name) {
      phases.push({ name, ...memoryNow() });
    },
  };
}

function memoryNow(): Omit<MemoryPhase, 'name'> {
  if (process.platform !== 'linux') {
    const residentBytes = process.memoryUsage.rss();
    return { peakBytes: residentBytes, residentBytes, privateBytes: null };
  }
  const sizes = readStatus(readFileSync('/proc/self/status', 'utf8'));
  // 5: the peak begins again at what is resident now
  writeFileSync('/proc/self/clear_refs', '5');
  return sizes;
}

/** Of `/proc/<pid>/status`, in which sizes are in KiB. */
export function readStatus(status: string): Omit<MemoryPhase, 'name'> {
  const bytesOf = (name: string): number => {
    const kibibytes = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'mu').exec(status)?.[1];
    if (kibibytes === undefined) throw new Error(`status: no ${name}`);
    return Number(kibibytes) * 1024;
  };
  return { peakBytes: bytesOf('VmHWM'), residentBytes: bytesOf('VmRSS'), privateBytes: bytesOf('RssAnon') };
}
