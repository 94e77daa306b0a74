import { expect } from 'chai';
import { type Chance, Disk } from './disk.ts';
import { type FileEvent, parseTrace } from './trace.ts';

const LOSES_ALL: Chance = { keepsSector: () => false, keepsEntries: () => 0 };
const KEEPS_ALL: Chance = { keepsSector: () => true, keepsEntries: (of) => of };

describe('a disk with a volatile cache', () => {
  const write = (path: string, offset: number, text: string): FileEvent => ({
    at: 0,
    kind: 'write',
    path,
    offset,
    data: Buffer.from(text),
  });
  const create = (path: string): FileEvent => ({ at: 0, kind: 'create', path });
  let syncs = 0;
  const synced = (path: string, ...meanwhile: FileEvent[]): FileEvent[] => {
    const sync = ++syncs;
    const started: FileEvent = { at: 0, kind: 'sync-started', path, sync };
    return [started, ...meanwhile, { at: 0, kind: 'sync-ended', path, sync }];
  };
  const imageAfter = (events: FileEvent[], chance: Chance, ignores?: (path: string) => boolean) => {
    const disk = new Disk('/d', ignores);
    for (const event of events) disk.apply(event);
    return Object.fromEntries([...disk.image(chance)].map(([path, content]) => [path, content?.toString() ?? null]));
  };

  it('keeps the content of a file that was synced, once its directory entry was synced too', () => {
    const events = [create('/d/a'), write('/d/a', 0, 'one'), ...synced('/d/a')];
    expect(imageAfter(events, LOSES_ALL)).to.deep.equal({});
    expect(imageAfter(events, KEEPS_ALL)).to.deep.equal({ a: 'one' });
    events.push(...synced('/d'), write('/d/a', 1, 'xx'));
    expect(imageAfter(events, LOSES_ALL)).to.deep.equal({ a: 'one' });
    expect(imageAfter(events, KEEPS_ALL)).to.deep.equal({ a: 'oxx' });
  });

  it('loses data that was written during a sync, and synced data when syncs have no effect', () => {
    const events = [
      create('/d/a'),
      ...synced('/d'),
      write('/d/a', 0, 'one'),
      ...synced('/d/a', write('/d/a', 3, 'two')),
    ];
    expect(imageAfter(events, LOSES_ALL)).to.deep.equal({ a: 'one' });
    expect(imageAfter(events, LOSES_ALL, (path) => path === '/d/a')).to.deep.equal({ a: '' });
    expect(imageAfter(events, LOSES_ALL, (path) => path === '/d')).to.deep.equal({});
  });

  it('loses permanently what a failed sync covers, as kernels do', () => {
    const failed = synced('/d/a').map(
      (event): FileEvent => (event.kind === 'sync-ended' ? { ...event, kind: 'sync-failed' } : event),
    );
    const events = [create('/d/a'), ...synced('/d'), write('/d/a', 0, 'one'), ...failed, ...synced('/d/a')];
    expect(imageAfter(events, KEEPS_ALL)).to.deep.equal({ a: '' });
    expect(imageAfter([...events, write('/d/a', 0, 'one'), ...synced('/d/a')], LOSES_ALL)).to.deep.equal({ a: 'one' });
  });

  it('tears writes at sector boundaries, and keeps later ones without earlier ones', () => {
    const text = 'x'.repeat(1200);
    const events = [create('/d/a'), ...synced('/d'), write('/d/a', 0, text), write('/d/a', 2000, 'late')];
    let sectors = 0;
    const second: Chance = { ...LOSES_ALL, keepsSector: () => ++sectors === 2 };
    expect(imageAfter(events, second)['a']).to.equal('\0'.repeat(512) + 'x'.repeat(512));
    const last: Chance = { ...LOSES_ALL, keepsSector: ({ place }) => place === 1 };
    expect(imageAfter(events, last)['a']).to.equal(`${'\0'.repeat(2000)}late`);
  });

  it('renames atomically, and truncates files', () => {
    const truncate: FileEvent = { at: 0, kind: 'truncate', path: '/d/b', size: 1 };
    const rename: FileEvent = { at: 0, kind: 'rename', path: '/d/a', to: '/d/b' };
    const events = [create('/d/a'), write('/d/a', 0, 'one'), ...synced('/d/a'), ...synced('/d'), rename, truncate];
    expect(imageAfter(events, LOSES_ALL)).to.deep.equal({ a: 'one' });
    expect(imageAfter(events, KEEPS_ALL)).to.deep.equal({ b: 'o' });
    expect(imageAfter(events, { ...LOSES_ALL, keepsEntries: () => 1 })).to.deep.equal({ b: 'one' });
  });
});

describe('a recording of system calls', () => {
  const hex = (text: string) =>
    [...Buffer.from(text)].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('');
  const fd = `7<${hex('/d/a')}>`;
  const parse = (...lines: string[]) => parseTrace(lines.map((line) => `1 2.5 ${line}`).join('\n'), '/d');

  it('is read call by call, also those that were interrupted by another thread', () => {
    const open = `openat(AT_FDCWD<${hex('/')}>, "${hex('/d/a')}", O_RDWR|O_CREAT|O_CLOEXEC, 0600) = ${fd}`;
    const text = [
      `1 2.5 ${open}`,
      `1 2.6 write(${fd}, "${hex('one')}", 3) = 3`,
      `2 2.7 fdatasync(${fd} <unfinished ...>`,
      `1 2.8 pwrite64(${fd}, "${hex('two')}", 3, 4096) = 3`,
      '2 2.9 <... fdatasync resumed>) = 0',
      `2 2.95 fsync(${fd}) = -1 EIO (Input/output error) (INJECTED)`,
      `1 3.0 write(8<${hex('/elsewhere')}>, "${hex('/d')}", 2) = 2`,
      `1 3.1 openat(AT_FDCWD<${hex('/')}>, "${hex('/d/b')}", O_RDONLY|O_CREAT) = -1 ENOENT (No such file or directory)`,
    ].join('\n');
    const events = parseTrace(text, '/d').map(({ kind, at }) => [kind, at]);
    expect(events).to.deep.equal([
      ['create', 2500],
      ['write', 2600],
      ['sync-started', 2700],
      ['write', 2800],
      ['sync-ended', 2900],
      ['sync-started', 2950],
      ['sync-failed', 2950],
    ]);
  });

  it('is refused when a call changes a file in an unsupported way', () => {
    expect(() => parse(`write(${fd}, "${hex('x')}", 1) = 1`)).to.throw('write changes /d/a');
    expect(() => parse(`fallocate(${fd}, 0, 0, 10) = 0`)).to.throw('fallocate changes /d/a');
  });
});
