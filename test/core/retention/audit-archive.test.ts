import { mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createAuditArchive } from '../../../core/retention/audit-archive.ts';
import { createRetention } from '../../../core/retention/retention.ts';
import type { AuditHead, EnvironmentId, Repositories } from '../../../db/store.ts';
import { verifyArchive } from '../../../db/verify-archive.ts';
import { addEnvironment, NOW, openTestStore, type TestStore } from '../../db/support.ts';
import { testEvents } from '../../support/events.ts';
import { tempDir } from '../../support/temp-dir.ts';

const DAY = 24 * 60 * 60 * 1000;
const TODAY = Math.floor(NOW / DAY) * DAY;

describe('F7: the archive of the audit log', () => {
  let test: TestStore;
  let folder: ReturnType<typeof tempDir>;
  let now: number;
  let errors: string[];
  /** The number of records that each transaction removed. */
  let pieces: number[];

  beforeEach(async () => {
    test = await openTestStore();
    folder = tempDir();
    [now, errors, pieces] = [TODAY, [], []];
  });
  afterEach(async () => {
    await test.end();
    folder.remove();
  });

  const keepFor = (days: number | undefined, env = test.env) =>
    test.store.write(async (tx) => {
      const environment = await tx.environments.get(env);
      const settings = { ...environment?.settings, ...(days !== undefined && { auditRetentionDays: days }) };
      await tx.environments.setSettings(env, settings);
    });

  const append = (count: number, at: number, env = test.env) =>
    test.store.write(async (tx) => {
      for (let number = 0; number < count; number++) {
        const what = {
          actor: 'cli_1',
          action: 'connected_account.updated',
          subjectId: `ca_${number}`,
          requestId: null,
        };
        await tx.audit.append(env, { id: test.newId('aud'), at, ...what, details: { b: number, a: ['ä', null] } });
      }
    });

  /** Returns the retention job, which also records its transactions in `pieces`. @param write replaces `store.write` */
  const retention = (write = test.store.write) => {
    const counting = async <T>(unit: (tx: Repositories) => Promise<T>): Promise<T> => {
      const before = await total();
      const result = await write(unit as never);
      pieces.push(before - (await total()));
      return result as T;
    };
    const store = { read: test.store.read, write: counting as typeof test.store.write };
    const events = testEvents({ now: () => now, newId: test.newId });
    const tools = { store, now: () => now, wait: async () => {} };
    const archiveAudit = createAuditArchive({ ...tools, events, directory: folder.path });
    const log = { error: ({ err }: { err?: Error }, message: string) => errors.push(`${message}: ${err?.message}`) };
    return createRetention({ ...tools, log, archiveAudit } as Parameters<typeof createRetention>[0]);
  };

  const total = async (env = test.env) => (await test.store.read.audit.list(env, { size: 1 })).total;
  const filesOf = (env: EnvironmentId = test.env) => {
    try {
      return readdirSync(join(folder.path, env)).sort();
    } catch {
      return [];
    }
  };
  const linesOf = (name: string) =>
    readFileSync(join(folder.path, test.env, name), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  /** The chain that has archived records. */
  const archived = async (env = test.env) => {
    const chains = await test.store.read.audit.chains(env);
    return chains.find(({ removed }) => removed) as { start: number; removed: AuditHead };
  };
  const verified = async (env = test.env) => {
    return verifyArchive(join(folder.path, env), env, await archived(env));
  };

  it('is empty while the environment does not set how long records are kept', async () => {
    await append(3, TODAY - 4000 * DAY);
    await retention().run();
    expect(filesOf()).to.deep.equal([]);
    expect(await total()).to.equal(3);
  });

  it('contains whole days that are old enough, in order, and no later records', async () => {
    await keepFor(30);
    await append(450, TODAY - 40 * DAY);
    await append(5, TODAY - 30 * DAY);
    now = TODAY + DAY - 1;
    await retention().run();
    expect(errors).to.deep.equal([]);
    expect(filesOf()).to.deep.equal(['000000000001-000000000450.jsonl']);
    // The archiving itself is recorded, too.
    expect(await total()).to.equal(6);
    now = TODAY + DAY;
    await retention().run();
    expect(filesOf()).to.deep.equal(['000000000001-000000000450.jsonl', '000000000451-000000000455.jsonl']);
    expect(await total()).to.equal(2);
    expect(await test.store.read.audit.verifyChain(test.env)).to.deep.equal({ intact: true, rows: 2 });
    expect(await verified()).to.deep.equal({ intact: true, files: 2, records: 455 });
  });

  it('has each record unchanged, in a file that only the owner can read', async () => {
    await keepFor(1);
    await append(2, TODAY - 9 * DAY);
    const before = (await test.store.read.audit.list(test.env, { size: 2 })).rows.reverse();
    await retention().run();
    const [name = ''] = filesOf();
    const expected = before.map(({ seq, id, at, hash, prevHash, details }) => ({
      ...{ seq, id, environment_id: test.env, at: new Date(at).toISOString(), actor: 'cli_1' },
      ...{ action: 'connected_account.updated', subject_id: `ca_${details['b']}`, request_id: null, details },
      ...{ prev_hash: prevHash.toString('hex'), hash: hash.toString('hex') },
    }));
    expect(linesOf(name)).to.deep.equal(expected);
    expect(statSync(join(folder.path, test.env, name)).mode & 0o777).to.equal(0o600);
    expect(statSync(join(folder.path, test.env)).mode & 0o777).to.equal(0o700);
  });

  it('is named in the audit log, with its last hash', async () => {
    await keepFor(1);
    await append(3, TODAY - 9 * DAY);
    await retention().run();
    const [record] = (await test.store.read.audit.list(test.env, { size: 1 })).rows;
    expect(record).to.include({ action: 'environment.audit_archived', actor: 'system', subjectId: test.env });
    const last = linesOf(filesOf()[0] as string).at(-1);
    expect(record?.details).to.include({ last_seq: last.seq, last_hash: last.hash });
  });

  it('contains records whose texts have line separators', async () => {
    await keepFor(1);
    const what = { actor: 'cli_1', action: 'connected_account.updated', subjectId: 'ca_1\u2028', requestId: null };
    const details = { text: 'a\u2028b\u2029c\u0085d\r\ne' };
    await test.store.write((tx) =>
      tx.audit.append(test.env, { id: test.newId('aud'), at: TODAY - 9 * DAY, ...what, details }),
    );
    await retention().run();
    expect(await verified()).to.deep.equal({ intact: true, files: 1, records: 1 });
  });

  it('removes archived records from the database in small pieces', async () => {
    await keepFor(1);
    await append(1000, TODAY - 9 * DAY);
    await retention().run();
    expect(Math.max(...pieces)).to.equal(200);
    expect(await total()).to.equal(1);
  });

  it('continues with the next file when one is full', async () => {
    await keepFor(1);
    for (let round = 0; round < 10; round++) await append(1010, TODAY - 9 * DAY);
    await retention().run();
    expect(filesOf()).to.deep.equal(['000000000001-000000010000.jsonl', '000000010001-000000010100.jsonl']);
    expect(await verified()).to.deep.equal({ intact: true, files: 2, records: 10_100 });
  });

  it('is separate for each environment', async () => {
    const other = await addEnvironment(test.store, test.newId, 'other.example');
    await keepFor(1);
    await append(3, TODAY - 9 * DAY);
    await append(4, TODAY - 9 * DAY, other);
    await retention().run();
    expect([filesOf().length, filesOf(other).length]).to.deep.equal([1, 0]);
    expect(await total(other)).to.equal(4);
    await keepFor(1, other);
    await retention().run();
    expect(filesOf(other)).to.deep.equal(['000000000001-000000000004.jsonl']);
    expect(await verified(other)).to.include({ intact: true, records: 4 });
  });

  it('does not contain records after one that is too recent, regardless of their time', async () => {
    await keepFor(1);
    await append(1, TODAY);
    await append(3, TODAY - 9 * DAY);
    await retention().run();
    expect(await total()).to.equal(4);
  });

  describe('that is interrupted', () => {
    it('loses nothing when the records are in a file but not marked in the database', async () => {
      await keepFor(1);
      await append(5, TODAY - 9 * DAY);
      const refusing = (async () => {
        throw new Error('the disk is full');
      }) as typeof test.store.write;
      await retention(refusing).run();
      expect(errors[0]).to.include('audit records could not be archived: the disk is full');
      expect(await total()).to.equal(5);
      expect(filesOf()).to.have.lengthOf(1);
      await retention().run();
      expect(filesOf()).to.deep.equal(['000000000001-000000000005.jsonl']);
      expect(await total()).to.equal(1);
      expect(await verified()).to.deep.equal({ intact: true, files: 1, records: 5 });
    });

    it('may write the same records to two files', async () => {
      await keepFor(1);
      await append(5, TODAY - 9 * DAY);
      const refusing = (async () => {
        throw new Error('the disk is full');
      }) as typeof test.store.write;
      await retention(refusing).run();
      await append(2, TODAY - 8 * DAY);
      await retention().run();
      expect(filesOf()).to.deep.equal(['000000000001-000000000005.jsonl', '000000000001-000000000007.jsonl']);
      expect(await verified()).to.deep.equal({ intact: true, files: 2, records: 7 });
    });

    it('continues where it stopped when a piece could not be removed', async () => {
      await keepFor(1);
      await append(500, TODAY - 9 * DAY);
      let failures = 0;
      const failing = (async (unit: never) => {
        // Fails once, after the first piece was removed.
        if ((await total()) < 500 && failures++ === 0) throw new Error('the disk is full');
        return test.store.write(unit);
      }) as typeof test.store.write;
      await retention(failing).run();
      expect(errors).to.have.lengthOf(1);
      const left = await total();
      expect(left).to.be.within(2, 500);
      expect(await test.store.read.audit.verifyChain(test.env)).to.deep.equal({ intact: true, rows: left });
      expect(await verified()).to.include({ intact: true, records: 500 });
      await retention().run();
      expect(await total()).to.equal(1);
    });

    it('overwrites the draft of an earlier attempt', async () => {
      await keepFor(1);
      await append(5, TODAY - 9 * DAY);
      await retention().run();
      writeFileSync(join(folder.path, test.env, 'incomplete'), 'half a rec');
      await append(5, TODAY - 8 * DAY);
      now = TODAY + 3 * DAY;
      await retention().run();
      expect(filesOf()).to.deep.equal(['000000000001-000000000005.jsonl', '000000000006-000000000011.jsonl']);
      expect(errors).to.deep.equal([]);
      expect(await verified()).to.have.property('intact', true);
    });

    it('removes nothing while a file of the same name has other records', async () => {
      const other = await openTestStore();
      await append(2, TODAY - 9 * DAY);
      await keepFor(1);
      await retention().run();
      const [name = ''] = filesOf();
      const text = readFileSync(join(folder.path, test.env, name), 'utf8');
      // Uses another database, as after the restore of an older backup to which other records were then added.
      await test.end();
      test = other;
      await append(2, TODAY - 9 * DAY);
      await keepFor(1);
      const path = join(folder.path, test.env, name);
      mkdirSync(join(folder.path, test.env));
      writeFileSync(path, text);
      await retention().run();
      expect(errors).to.deep.equal([
        `audit records could not be archived: ${path} has other records than the database: move it to another directory`,
      ]);
      expect(readFileSync(path, 'utf8')).to.equal(text);
      expect(filesOf()).to.deep.equal([name]);
      expect(await total()).to.equal(2);
    });
  });

  describe('that was changed', () => {
    let path: string;
    beforeEach(async () => {
      await keepFor(1);
      await append(6, TODAY - 9 * DAY);
      await retention().run();
      path = join(folder.path, test.env, filesOf()[0] as string);
      expect(await verified()).to.have.property('intact', true);
    });
    const edit = (change: (lines: string[]) => string[]) => {
      const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
      writeFileSync(path, `${change(lines).join('\n')}\n`);
    };

    const edits: Record<string, (lines: string[]) => string[]> = {
      'an edited record': (lines) => lines.with(2, (lines[2] ?? '').replace('cli_1', 'cli_2')),
      'a record that is missing at the beginning': (lines) => lines.slice(1),
      'a record that is missing in the middle': (lines) => lines.toSpliced(2, 1),
      'a record that is missing at the end': (lines) => lines.slice(0, -1),
      'two records that changed places': (lines) => [
        ...lines.slice(0, 2),
        lines[3] ?? '',
        lines[2] ?? '',
        ...lines.slice(4),
      ],
    };
    const forged = (line = '') => line.replace('cli_1', 'cli_2');
    Object.assign(edits, {
      'a forged copy of the last record, behind it': (lines: string[]) => [...lines, forged(lines.at(-1))],
      'a forged copy of an earlier record, behind the others': (lines: string[]) => [...lines, forged(lines[2])],
      'a true copy of an earlier record, behind the others': (lines: string[]) => [...lines, lines[2] ?? ''],
      'a member that was added to a record': (lines: string[]) =>
        lines.with(2, (lines[2] ?? '').replace('{', '{"note":"x",')),
      'a member that is used twice in a record': (lines: string[]) =>
        lines.with(2, (lines[2] ?? '').replace('{', '{"actor":"cli_2",')),
    });
    for (const [name, change] of Object.entries(edits)) {
      it(`reveals ${name}`, async () => {
        edit(change);
        expect(await verified()).to.have.property('intact', false);
      });
    }

    it('reveals a forged record in a file if another file has the same records', async () => {
      const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
      const name = (from: number, to: number) =>
        join(folder.path, test.env, `${[from, to].map((n) => String(n).padStart(12, '0')).join('-')}.jsonl`);
      writeFileSync(name(1, 3), `${lines.slice(0, 3).join('\n')}\n`);
      expect(await verified()).to.have.property('intact', true);
      edit((all) => all.with(1, forged(all[1])));
      expect(await verified()).to.have.property('intact', false);
      edit(() => lines);
      expect(await verified()).to.have.property('intact', true);
      writeFileSync(name(2, 3), `${[forged(lines[1]), lines[2]].join('\n')}\n`);
      expect(await verified()).to.have.property('intact', false);
    });

    it('reveals a file whose name does not match its records', async () => {
      renameSync(path, path.replace('000000000006', '000000000009'));
      expect(await verified()).to.have.property('intact', false);
    });

    it('reveals a line that is not a record', async () => {
      edit((lines) => lines.with(3, '{"seq":'));
      expect(await verified()).to.deep.equal({ intact: false, problem: `line 4 of ${path} is not an audit record` });
    });

    it('reveals a database whose first record does not continue the chain', async () => {
      const { start, removed } = await archived();
      const forged = { start, removed: { ...removed, hash: Buffer.alloc(32, 7) } };
      const verdict = await verifyArchive(join(folder.path, test.env), test.env, forged);
      expect(verdict).to.deep.equal({
        intact: false,
        problem: 'the audit log in the database does not continue record 6 of the archive',
      });
    });
  });
});
