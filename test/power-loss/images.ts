import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Random } from '../fuzz/random.ts';
import { type Chance, Disk } from './disk.ts';
import type { FileEvent } from './trace.ts';

/** The effects of a loss of power on unsynced changes. */
const LOSSES: Record<string, (random: Random) => Chance> = {
  'all of it dropped': () => ({ keepsSector: () => false, keepsEntries: () => 0 }),
  'all of it kept': () => ({ keepsSector: () => true, keepsEntries: (of) => of }),
  'the last write torn': (random) => ({
    keepsSector: ({ place, of }) => place < of - 1 || random.chance(0.5),
    keepsEntries: (of) => of,
  }),
  'some sectors kept': (random) => ({
    keepsSector: () => random.chance(0.5),
    keepsEntries: (of) => random.below(of + 1),
  }),
  'some writes kept': (random) => {
    const seed = random.below(1 << 30);
    const keeps = (path: string, place: number) => ((place + path.length) * 2_654_435_761 + seed) % 7 < 4;
    return { keepsSector: ({ path, place }) => keeps(path, place), keepsEntries: (of) => random.below(of + 1) };
  },
  'late writes kept, early ones dropped': (random) => ({
    keepsSector: ({ place, of }) => place >= of / 2,
    keepsEntries: (of) => random.below(of + 1),
  }),
  'one file kept, the others dropped': (random) => {
    const ending = random.pick(['-wal', '.db', '-mark', 'keys']);
    return { keepsSector: ({ path }) => path.endsWith(ending), keepsEntries: (of) => of };
  },
};

export interface Image {
  /** The name of the effect. */
  loss: string;
  /** The number of the last change in the recording before the loss of power. */
  place: number;
  /** The time of the next change. The image must contain everything that was acknowledged before this time. */
  at: number;
  files: Map<string, Buffer | null>;
}

export interface ImageOptions {
  /** The folder of the recording. */
  folder: string;
  count: number;
  random: Random;
  /** Selects files and directories whose syncs have no effect, to simulate a faulty server. */
  ignores?: (path: string) => boolean;
}

/**
 * Yields images of the folder after losses of power at random places of a recording. About half of the `count` images
 * are after events other than writes, which are fewer and are where a loss is most likely; the others are after writes.
 */
export function* imagesOf(events: FileEvent[], { folder, count, random, ignores }: ImageOptions): Generator<Image> {
  const disk = new Disk(folder, ignores);
  const losses = Object.keys(LOSSES);
  const risky = events.filter(isRisky).length;
  for (const [place, event] of events.entries()) {
    disk.apply(event);
    const share = isRisky(event) ? count / 2 / risky : count / 2 / events.length;
    for (let images = share; images > 0 && random.chance(images); images--) {
      const loss = random.pick(losses);
      const files = disk.image(LOSSES[loss]?.(random) as Chance);
      yield { loss, place, at: events[place + 1]?.at ?? Number.POSITIVE_INFINITY, files };
    }
  }
}

/** Whether an event is not a write: the start or end of a sync, a change of a directory, or a truncation. */
function isRisky({ kind }: FileEvent): boolean {
  return kind !== 'write';
}

/**
 * Writes an image into an empty folder. The index of the write-ahead log (`-shm`) is shared memory, so a power loss may
 * leave any content in it.
 */
export function writeImage({ files }: Image, folder: string, random: Random): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (const [path, content] of files) {
    const target = join(folder, path);
    mkdirSync(content === null ? target : dirname(target), { recursive: true, mode: 0o700 });
    if (content === null) continue;
    const isIndex = path.endsWith('-shm');
    writeFileSync(target, isIndex ? Buffer.alloc(content.length, random.below(256)) : content, { mode: 0o600 });
  }
}
