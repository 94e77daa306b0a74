import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { readCatalogueIndex } from '../../core/connectors/catalogue-index.ts';
import { openCatalogueIndex } from '../../wiring/generated-file.ts';

const GENERATED = new URL('../../generated/catalogue.json', import.meta.url);

describe('The index of the catalogue in its file', () => {
  let folder: string;
  let path: string;
  let closing: AsyncDisposableStack;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'catalogue-'));
    path = join(folder, 'catalogue.json');
    copyFileSync(GENERATED, path);
    closing = new AsyncDisposableStack();
  });

  afterEach(async () => {
    await closing.disposeAsync();
    rmSync(folder, { recursive: true });
  });

  it('has the same connectors and tools as the index in memory', () => {
    const held = readCatalogueIndex(readFileSync(GENERATED, 'utf8'));
    const opened = openCatalogueIndex(closing, path);
    expect(opened.connectors).to.deep.equal(held.connectors);
    expect([...opened.tools.keys()]).to.deep.equal([...held.tools.keys()]);
    for (const [name, { connector, generic, text }] of held.tools) {
      const tool = opened.tools.get(name);
      expect([tool?.connector, tool?.generic, tool?.text()]).to.deep.equal([connector, generic, text()]);
    }
  });

  it('returns the same tools after the file was replaced', () => {
    const { tools } = openCatalogueIndex(closing, path);
    const before = [...tools.values()].at(-1)?.text();
    writeFileSync(`${path}.new`, 'x'.repeat(10_000_000));
    renameSync(`${path}.new`, path);
    expect([...tools.values()].at(-1)?.text()).to.equal(before);
  });

  it('names the file if it was shortened', () => {
    const { tools } = openCatalogueIndex(closing, path);
    truncateSync(path, 100);
    expect(() => [...tools.values()].at(-1)?.text()).to.throw(`${path} was shortened while the server was running`);
  });

  it('is closed with the server, and reads no other file afterwards', async () => {
    const open = () => readdirSync('/proc/self/fd').filter((fd) => isLinkTo(fd, path)).length;
    const { tools } = openCatalogueIndex(closing, path);
    expect(open()).to.equal(1);
    await closing.disposeAsync();
    expect(open()).to.equal(0);
    expect(() => [...tools.values()].at(-1)?.text()).to.throw(`${path} is closed, because the server has stopped`);
  });

  it('rejects a file that is not an index', () => {
    writeFileSync(path, '{}');
    expect(() => openCatalogueIndex(closing, path)).to.throw('generated/catalogue.json is damaged');
  });
});

function isLinkTo(descriptor: string, path: string): boolean {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`) === path;
  } catch {
    // The listed descriptors include that of the listing itself, which is closed by now.
    return false;
  }
}
