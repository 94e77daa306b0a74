import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/**
 * The changes that a process made to the files of a folder, in order. `at` is in milliseconds UTC; paths are absolute.
 */
export type FileEvent = { at: number } & (
  | { kind: 'write'; path: string; offset: number; data: Buffer }
  | { kind: 'truncate'; path: string; size: number }
  | { kind: 'create' | 'remove' | 'directory'; path: string }
  | { kind: 'rename' | 'link'; path: string; to: string }
  | { kind: 'sync-started' | 'sync-ended' | 'sync-failed'; path: string; sync: number }
);

/** The system calls that change files, and `openat`, which creates them. */
const CALLS =
  'openat,open,creat,write,pwrite64,writev,pwritev,pwritev2,truncate,ftruncate,fallocate,copy_file_range,sendfile,fsync,fdatasync,' +
  'sync_file_range,rename,renameat,renameat2,unlink,unlinkat,rmdir,link,linkat,symlink,symlinkat,mkdir,mkdirat';

/**
 * Returns a command that runs another one and records its system calls in a file. The other command stays a direct
 * child process of the caller.
 *
 * @param failing makes the syncs of each thread fail after this many
 */
export function recorder(file: string, failing?: number): string[] {
  const format = ['-ttt', '-y', '-xx', '-s', String(2 ** 24), '-e', 'signal=kill', '-e', `trace=${CALLS}`];
  const faults = failing === undefined ? [] : ['-e', `inject=fdatasync:error=EIO:when=${failing}+`];
  return ['strace', '-D', '-f', '--seccomp-bpf', ...format, ...faults, '-o', file];
}

/** Whether a recording is complete: its last line is the end of the process. */
export function isComplete(file: string): boolean {
  const fd = openSync(file, 'r');
  try {
    const end = Buffer.alloc(Math.min(100, fstatSync(fd).size));
    readSync(fd, end, 0, end.length, fstatSync(fd).size - end.length);
    return /\+\+\+ (killed by SIGKILL|exited with \d+) \+\+\+\s*$/.test(end.toString('latin1'));
  } finally {
    closeSync(fd);
  }
}

const LINE = /^(\d+) +([\d.]+) (.*)$/;
const UNFINISHED = / *<unfinished \.\.\.>$/;
const RESUMED = /^<\.\.\. \w+ resumed> ?(.*)$/;
const CALL = /^(\w+)\((.*)\) += (-?\d+)/;
const SYNCS = ['fsync', 'fdatasync'];

/**
 * Parses the recording that `strace` wrote for one process, for the files of a folder.
 *
 * @throws Error at an unknown call that changes files, because a recording must be complete
 */
export function parseTrace(text: string, folder: string): FileEvent[] {
  const events: FileEvent[] = [];
  const unfinished = new Map<string, { call: string; sync?: number }>();
  const offsets = new Map<string, number>();
  let syncs = 0;
  for (const line of text.split('\n')) {
    const [, thread = '', seconds, said = ''] = LINE.exec(line) ?? [];
    const at = Number(seconds) * 1000;
    const begun = UNFINISHED.test(said) ? said.replace(UNFINISHED, '') : undefined;
    if (begun !== undefined) {
      const sync = startSync(begun, at);
      unfinished.set(thread, { call: begun, ...(sync && { sync }) });
      continue;
    }
    const [, rest] = RESUMED.exec(said) ?? [];
    const before = rest === undefined ? undefined : unfinished.get(thread);
    const [, name = '', args = '', result = ''] = CALL.exec((before?.call ?? '') + (rest ?? said)) ?? [];
    const hasFailed = Number(result) < 0;
    if (name === '' || (hasFailed && !SYNCS.includes(name))) continue;
    if (SYNCS.includes(name)) {
      const sync = before?.sync ?? startSync(`${name}(${args}`, at);
      if (sync) events.push({ at, kind: hasFailed ? 'sync-failed' : 'sync-ended', path: descriptorPath(args), sync });
    } else if (concerns(args)) events.push(...changes(name, args, Number(result), at));
  }
  return events.filter(({ path }) => isInside(path));

  function startSync(call: string, at: number): number | undefined {
    const [, name = '', args = ''] = /^(\w+)\((.*)$/.exec(call) ?? [];
    if (!SYNCS.includes(name) || !isInside(descriptorPath(args))) return undefined;
    events.push({ at, kind: 'sync-started', path: descriptorPath(args), sync: ++syncs });
    return syncs;
  }

  /** Whether a call concerns the folder, by the files of its descriptors, or by its paths if it has no descriptor. */
  function concerns(args: string): boolean {
    if (!/^\d+</.test(args)) return args.includes(hex(folder));
    return [...args.matchAll(/\d+<([^>]*)>/g)].some((match) => isInside(bytes(String(match[1])).toString()));
  }

  function isInside(path: string): boolean {
    return path === folder || path.startsWith(`${folder}/`);
  }

  function changes(name: string, args: string, result: number, at: number): FileEvent[] {
    const strings = [...args.matchAll(/"((?:\\x[0-9a-f]{2})*)"/g)].map((match) => bytes(String(match[1])));
    const [first = Buffer.alloc(0), second = Buffer.alloc(0)] = strings;
    const numbers = args.split(', ').map(Number);
    const path = /^\d+</.test(args) ? descriptorPath(args) : first.toString();
    const descriptor = /^\d+/.exec(args)?.[0] ?? '';
    switch (name) {
      case 'openat': {
        if (args.includes('O_APPEND')) offsets.delete(String(result));
        else offsets.set(String(result), 0);
        const made: FileEvent[] = args.includes('O_CREAT') ? [{ at, kind: 'create', path }] : [];
        return args.includes('O_TRUNC') ? [...made, { at, kind: 'truncate', path, size: 0 }] : made;
      }
      case 'write': {
        const offset = offsets.get(descriptor);
        if (offset === undefined) throw new Error(`write changes ${path} at a place that is not known`);
        offsets.set(descriptor, offset + result);
        return [{ at, kind: 'write', path, offset, data: first.subarray(0, result) }];
      }
      case 'pwrite64':
        return [{ at, kind: 'write', path, offset: numbers.at(-1) ?? 0, data: first.subarray(0, result) }];
      case 'ftruncate':
        return [{ at, kind: 'truncate', path, size: numbers.at(-1) ?? 0 }];
      case 'mkdir':
        return [{ at, kind: 'directory', path }];
      case 'unlink':
        return [{ at, kind: 'remove', path }];
      case 'rename':
      case 'link':
        return [{ at, kind: name, path, to: second.toString() }];
      default:
        throw new Error(`${name} changes ${path} in a way that is not understood`);
    }
  }
}

/** The path behind a descriptor such as `17</data/x>`. */
function descriptorPath(args: string): string {
  return bytes(/^\d+<([^>]*)>/.exec(args)?.[1] ?? '').toString();
}

function bytes(text: string): Buffer {
  return Buffer.from(text.replaceAll('\\x', ''), 'hex');
}

function hex(text: string): string {
  return [...Buffer.from(text)].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('');
}
