import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { tempDir } from '../../support/temp-dir.ts';

/** A small ext4 file system in a file, mounted for one test. */
export interface SmallDisk {
  /** Where it is mounted. */
  path: string;
  /** Uses up all remaining space. */
  fill(): void;
  /** Releases the space. */
  free(): void;
  /** Aborts the journal, as the kernel does after an error of the disk: nothing can be written from then on. */
  makeReadOnly(): void;
  /** Reverts `makeReadOnly`. No process may use the disk meanwhile. */
  repair(): void;
  remove(): void;
}

const MIB = 1024 * 1024;

/** Returns the reason why no file system can be created and mounted here; null if it can. */
export function whyNoDisk(): string | null {
  if (process.getuid?.() !== 0) return 'a file system can be mounted by root only';
  try {
    makeDisk().remove();
    return null;
  } catch (error) {
    return `no file system can be mounted here: ${(error as Error).message.split('\n')[0]}`;
  }
}

/** Creates a file system and mounts it. @throws Error if it cannot be mounted */
export function makeDisk(sizeMiB = 8): SmallDisk {
  const folder = tempDir();
  const [image, path] = [join(folder.path, 'image'), join(folder.path, 'disk')];
  const filler = join(path, 'filler');
  const mount = () => run('mount', '-o', 'loop,errors=remount-ro', image, path);
  mkdirSync(path);
  const unmount = () => run('umount', path);
  try {
    run('truncate', '-s', String(sizeMiB * MIB), image);
    run('mkfs.ext4', '-q', '-F', '-m', '0', image);
    mount();
  } catch (error) {
    folder.remove();
    throw error;
  }
  return {
    path,
    fill() {
      const file = openSync(filler, 'a');
      for (const size of [64 * 1024, 4096, 1]) writeUntilFull(file, Buffer.alloc(size));
      closeSync(file);
    },
    free: () => rmSync(filler),
    makeReadOnly: () => run('mount', '-o', 'remount,abort', path),
    repair() {
      unmount();
      // e2fsck exits with 1 after it has repaired something.
      run('bash', '-c', 'e2fsck -fy "$0" || [ $? -le 1 ]', image);
      mount();
    },
    remove() {
      unmount();
      folder.remove();
    },
  };
}

/** Makes system calls of a running process fail until it is stopped. */
export async function injectFaults(pid: number, calls: string, error: string): Promise<() => Promise<void>> {
  const tracer = spawn('strace', ['-f', '-p', String(pid), '-e', `inject=${calls}:error=${error}`, '-o', '/dev/null']);
  const ended = once(tracer, 'exit');
  // strace prints a line for each thread, and attaches to all threads before the first one continues.
  await once(tracer.stderr, 'data');
  await pause(200);
  return async () => {
    tracer.kill('SIGINT');
    await ended;
  };
}

function run(command: string, ...args: string[]): void {
  execFileSync(command, args, { stdio: 'pipe' });
}

function writeUntilFull(file: number, data: Buffer): void {
  try {
    for (;;) writeSync(file, data);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}
