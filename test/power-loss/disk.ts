import { basename, dirname } from 'node:path';
import type { FileEvent } from './trace.ts';

/** Determines which of the unsynced changes are on the disk after a loss of power. */
export interface Chance {
  /**
   * Whether this part of an unsynced write is on the disk. A part is a sector, the unit that disks write as a whole.
   */
  keepsSector(change: { path: string; place: number; of: number }): boolean;
  /** How many of the unsynced changes of a directory are on the disk. Journals keep their order. */
  keepsEntries(of: number): number;
}

type Change = { order: number } & (
  | { kind: 'write'; offset: number; data: Buffer }
  | { kind: 'truncate'; size: number }
);
/** Entries that one change sets, or removes if the value is null. */
type EntryChange = { order: number; names: [string, File | Directory | null][] };

/** A file: its durable content, and the changes since. */
class File {
  durable: Buffer = Buffer.alloc(0);
  changes: Change[] = [];
}

/** A directory: its durable entries, and the changes since. */
class Directory {
  durable = new Map<string, File | Directory>();
  changes: EntryChange[] = [];
  /** Its entries as processes see them. */
  entries = new Map<string, File | Directory>();
}

const SECTOR = 512;

/**
 * A disk with a cache, which loses what was not synced. A sync makes those changes of a file durable that were made
 * before it started. The directory entry of a file becomes durable by a sync of the directory, not of the file. Changes
 * that a failed sync covers are lost.
 */
export class Disk {
  readonly #folder: string;
  readonly #ignores: (path: string) => boolean;
  readonly #top = new Directory();
  /** The changes that each running sync covers. */
  readonly #syncs = new Map<number, number>();
  #order = 0;

  /**
   * @param folder exists and is durable; paths are below it
   * @param ignores selects files and directories whose syncs have no effect, to simulate a faulty server
   */
  constructor(folder: string, ignores: (path: string) => boolean = () => false) {
    this.#folder = folder;
    this.#ignores = ignores;
  }

  apply(event: FileEvent): void {
    const { path } = event;
    const order = ++this.#order;
    switch (event.kind) {
      case 'directory':
        this.#enter([path, new Directory()]);
        break;
      case 'create':
        if (!this.#find(path)) this.#enter([path, new File()]);
        break;
      case 'remove':
        this.#enter([path, null]);
        break;
      case 'link':
        this.#enter([event.to, this.#existing(path)]);
        break;
      case 'rename':
        this.#enter([event.to, this.#existing(path)], [path, null]);
        break;
      case 'write':
        this.#file(path).changes.push({ order, kind: 'write', offset: event.offset, data: event.data });
        break;
      case 'truncate':
        this.#file(path).changes.push({ order, kind: 'truncate', size: event.size });
        break;
      case 'sync-started':
        this.#syncs.set(event.sync, order);
        break;
      case 'sync-ended':
        if (!this.#ignores(path)) settle(this.#existing(path), this.#syncs.get(event.sync) ?? 0);
        break;
      case 'sync-failed':
        lose(this.#existing(path), this.#syncs.get(event.sync) ?? 0);
    }
  }

  /**
   * Returns the files that remain after a loss of power now, by their paths below the folder; directories have the
   * value null.
   */
  image(chance: Chance): Map<string, Buffer | null> {
    const image = new Map<string, Buffer | null>();
    const visit = (directory: Directory, path: string) => {
      for (const [name, node] of entriesAfter(directory, chance.keepsEntries(directory.changes.length))) {
        const child = path === '' ? name : `${path}/${name}`;
        image.set(child, node instanceof File ? contentAfter(node.durable, keptOf(node, child, chance)) : null);
        if (node instanceof Directory) visit(node, child);
      }
    };
    visit(this.#top, '');
    return image;
  }

  #find(path: string): File | Directory | undefined {
    if (path === this.#folder) return this.#top;
    const parent = this.#find(dirname(path));
    return parent instanceof Directory ? parent.entries.get(basename(path)) : undefined;
  }

  #existing(path: string): File | Directory {
    const node = this.#find(path);
    if (!node) throw new Error(`the recording has no ${path}`);
    return node;
  }

  #file(path: string): File {
    const node = this.#existing(path);
    if (!(node instanceof File)) throw new Error(`${path} is not a file`);
    return node;
  }

  /** Changes entries of one directory. */
  #enter(...changes: [path: string, node: File | Directory | null][]): void {
    const [above, ...others] = new Set(changes.map(([path]) => dirname(path)));
    const parent = this.#existing(above ?? '');
    if (!(parent instanceof Directory) || others.length > 0)
      throw new Error(`${changes[0]?.[0]} cannot be moved there`);
    const names = changes.map(([path, node]): EntryChange['names'][number] => [basename(path), node]);
    parent.changes.push({ order: this.#order, names });
    setNames(parent.entries, names);
  }
}

/** Makes the changes durable that were made before a sync started. */
function settle(node: File | Directory, before: number): void {
  const count = node.changes.filter(({ order }) => order < before).length;
  if (node instanceof Directory) node.durable = entriesAfter(node, count);
  else node.durable = contentAfter(node.durable, node.changes.slice(0, count));
  node.changes.splice(0, count);
}

/** After a sync that failed, processes still see what was changed, and no later sync writes it to the disk. */
function lose(node: File | Directory, before: number): void {
  node.changes.splice(0, node.changes.filter(({ order }) => order < before).length);
}

function entriesAfter({ durable, changes }: Directory, count: number): Map<string, File | Directory> {
  const entries = new Map(durable);
  for (const { names } of changes.slice(0, count)) setNames(entries, names);
  return entries;
}

function setNames(entries: Map<string, File | Directory>, names: EntryChange['names']): void {
  for (const [name, node] of names) {
    if (node) entries.set(name, node);
    else entries.delete(name);
  }
}

/** Returns the parts of a file's unsynced changes that are on the disk. */
function keptOf({ changes }: File, path: string, chance: Chance): Change[] {
  const of = changes.length;
  return changes.flatMap((change, place) => {
    const parts = change.kind === 'write' ? sectorsOf(change) : [change];
    return parts.filter(() => chance.keepsSector({ path, place, of }));
  });
}

/** Splits a write into parts at the sector boundaries of the disk. */
function sectorsOf({ order, offset, data }: Extract<Change, { kind: 'write' }>): Change[] {
  const parts: Change[] = [];
  for (let start = 0; start < data.length; ) {
    const end = Math.min(data.length, start + SECTOR - ((offset + start) % SECTOR));
    parts.push({ order, kind: 'write', offset: offset + start, data: data.subarray(start, end) });
    start = end;
  }
  return parts;
}

function contentAfter(content: Buffer, changes: Change[]): Buffer {
  const ends = changes.map((change) => (change.kind === 'truncate' ? change.size : change.offset + change.data.length));
  const result = Buffer.alloc(Math.max(content.length, ...ends));
  content.copy(result);
  let size = content.length;
  for (const change of changes) {
    if (change.kind === 'write') {
      change.data.copy(result, change.offset);
      size = Math.max(size, change.offset + change.data.length);
    } else {
      if (change.size < size) result.fill(0, change.size, size);
      size = change.size;
    }
  }
  return result.subarray(0, size);
}
