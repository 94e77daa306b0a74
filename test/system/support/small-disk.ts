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
  /** Gives it back. */
  free(): void;
  /** Aborts the journal, as the kernel does after an error of the disk: nothing can be written from then on. */
  makeReadOnly(): void;
  /** Repairs what `makeReadOnly` did. No process may use it meanwhile. */
  repair(): void;
  remove(): void;
}

const MIB = 1024 * 1024;

/** Why no file system can be made and mounted here; null where it can. */
export function whyNoDisk(): string | null {
  if (process.getuid?.() !== 0) return 'a file system can be mounted by root only';
  try {
    makeDisk().remove();
    return null;
  } catch (error) {
    return `no file system can be mounted here: ${(error as Error).message.split('\n')[0]}`;
  }
}

/** @throws Error when it cannot be mounted */
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
      // Exits with 1 when it has repaired something.
      run('bash', '-c', 'e2fsck -fy "$0" || [ $? -le 1 ]', image);
      mount();
    },
    remove() {
      unmount();
      folder.remove();
    },
  };
}

/** Lets system calls of a running process fail, until it is told to stop. */
export async function injectFaults(pid: number, calls: string, error: string): Promise<() => Promise<void>> {
  const tracer = spawn('strace', ['-f', '-p', String(pid), '-e', `inject=${calls}:error=${error}`, '-o', '/dev/null']);
  const ended = once(tracer, 'exit');
  // It says so of each thread, and attaches to all before it lets the first one go on.
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
