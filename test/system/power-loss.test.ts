import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Counterpart, startCounterpart } from '../crash/counterpart.ts';
import { Random } from '../fuzz/random.ts';
import { countAcknowledged } from '../power-loss/history.ts';
import { type Image, type ImageOptions, imagesOf, writeImage } from '../power-loss/images.ts';
import { lossesOf } from '../power-loss/losses.ts';
import { type Recording, type RecordOptions, record, serverEnvironment } from '../power-loss/recording.ts';
import { amount } from '../support/amount.ts';
import { startChildServer } from '../support/child-server.ts';
import { tempDir } from '../support/temp-dir.ts';

/**
 * The number of images: states in which a loss of power could leave the disk. `make power-loss` checks more of them.
 */
const IMAGES = amount(process.env['POWER_LOSS_IMAGES'], 150);
const SEED = amount(process.env['POWER_LOSS_SEED'], Math.floor(Math.random() * 2 ** 32), 0);
const CHANGES = 150;
/** The number of images that a whole server opens, which takes a second each. */
const SERVED = 5;

/** Makes syncs of the log report success without doing anything, so that the server acknowledges too early. */
const NO_SYNC = `
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
fs.fdatasync = (_file, done) => setImmediate(done, null);
syncBuiltinESMExports();`;

describe(`a loss of power at ${IMAGES} places of a recorded run (F16), seed ${SEED}`, function () {
  this.timeout(600_000 + IMAGES * 2_000);
  const temporary = tempDir();
  const random = new Random(SEED);
  let counterpart: Counterpart;
  let recording: Recording;
  const folder = join(temporary.path, 'recorded');
  const dataDirIn = (path: string) => join(path, 'srv/data');

  const recordIn = (path: string, options: Pick<RecordOptions, 'before' | 'failing'> = {}) => {
    mkdirSync(path);
    return record({ folder: path, dataDir: dataDirIn(path), counterpart, changes: CHANGES, ...options });
  };
  /** Returns the errors of an image as one text, which is empty if there are none. */
  const checkImage = async (image: Image, recorded: Recording) => {
    const copy = join(temporary.path, 'image');
    writeImage(image, copy, random);
    const losses = await lossesOf(dataDirIn(copy), recorded, image.at);
    return losses.length === 0 ? '' : `after change ${image.place} (${image.loss}): ${losses.join('; ')}`;
  };
  const countLossy = async (recorded: Recording, options: Partial<ImageOptions>) => {
    let lossy = 0;
    for (const image of imagesOf(recorded.events, { folder, random, count: 40, ...options })) {
      if ((await checkImage(image, recorded)) !== '') lossy++;
      if (lossy === 3) break;
    }
    return lossy;
  };

  before(async () => {
    counterpart = await startCounterpart();
    recording = await recordIn(folder);
  });
  after(async () => {
    await counterpart.upstream.stop();
    temporary.remove();
  });

  it('has recorded the calls of a server: writes, truncations, syncs of files and directories, and responses', () => {
    const kinds = new Set(recording.events.map(({ kind }) => kind));
    expect(kinds).to.include.all.keys(
      'directory',
      'create',
      'write',
      'truncate',
      'remove',
      'sync-started',
      'sync-ended',
    );
    expect(countAcknowledged(recording.history, Number.POSITIVE_INFINITY)).to.be.greaterThan(CHANGES);
  });

  it('loses nothing that was acknowledged, and every image can be opened', async () => {
    let checked = 0;
    for (const image of imagesOf(recording.events, { folder, random, count: IMAGES })) {
      expect(await checkImage(image, recording)).to.equal('');
      checked++;
      if (checked % 500 === 0) console.log(`    ${checked} images`);
    }
    expect(checked).to.be.greaterThan(IMAGES / 2);
  });

  it('lets a server start on the remaining data, also of its first start (F16), and serve what was acknowledged', async () => {
    const images = [...imagesOf(recording.events, { folder, random, count: 60 })];
    const chosen = Array.from({ length: SERVED }, (_, number) => images[Math.floor((number * images.length) / SERVED)]);
    for (const image of chosen as Image[]) {
      const copy = join(temporary.path, 'served');
      writeImage(image, copy, random);
      const server = await startChildServer(await serverEnvironment(dataDirIn(copy), counterpart));
      try {
        for (const { id, steps } of recording.history.accounts) {
          const [created, ...later] = steps;
          if (later.length > 0 || (created?.ackedAt ?? Number.POSITIVE_INFINITY) >= image.at) continue;
          const answer = await server.call('GET', `/api/v1/connected_accounts/auth?id=${id}`);
          expect(answer.text, `${image.place} ${image.loss}`).to.include('secret-key-of-');
        }
      } finally {
        await server.stop();
        rmSync(copy, { recursive: true });
      }
    }
  });

  it('loses nothing after a failed sync, a kill and a start on what the kernel still shows (F2)', async () => {
    const path = join(temporary.path, 'failing');
    const failing = await recordIn(path, { failing: 15 });
    const failed = failing.events.findIndex(({ kind }) => kind === 'sync-failed');
    expect(failed).to.be.greaterThan(0);
    const at = failing.events[failed]?.at ?? 0;
    const all = countAcknowledged(failing.history, Number.POSITIVE_INFINITY);
    expect(countAcknowledged(failing.history, at), 'acknowledged before').to.be.within(5, all - CHANGES / 3);
    let checked = 0;
    for (const image of imagesOf(failing.events, { folder: path, random, count: IMAGES })) {
      expect(await checkImage(image, failing)).to.equal('');
      if (image.place > failed) checked++;
    }
    expect(checked).to.be.greaterThan(IMAGES / 10);
  });

  const MUTANTS: Record<string, (path: string) => boolean> = {
    'the log': (path) => path.endsWith('-wal'),
    'the main file': (path) => path.endsWith('valetkey.db'),
    'the data directory': (path) => path.endsWith('/data'),
    'the directory above it': (path) => path.endsWith('/srv'),
    'the key file': (path) => /\/keys[^/]*$/.test(path),
  };
  for (const [what, ignores] of Object.entries(MUTANTS)) {
    it(`is detected when syncs of ${what} do nothing (a mutant)`, async () => {
      expect(await countLossy(recording, { ignores })).to.be.greaterThan(0);
    });
  }

  it('is detected when the server acknowledges before the log is synced (a mutant)', async () => {
    const path = join(temporary.path, 'mutant');
    const mutant = await recordIn(path, { before: NO_SYNC });
    expect(await countLossy(mutant, { folder: path })).to.be.greaterThan(0);
  });
});
