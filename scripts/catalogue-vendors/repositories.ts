import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { locationOf, readSources, type Source } from './source.ts';

const run = promisify(execFile);
const MAX_BYTES = 128 * 1024 * 1024;

/** Fetches the descriptions that are published in repositories, each at its commit. Existing files are kept. */
async function fetchRepositories(): Promise<void> {
  const wanted = [...(await readSources()).values()]
    .flat()
    .filter(({ repository }) => repository !== undefined)
    .flatMap((source) => [...new Set([source.file, ...(source.beside ?? [])])].map((file) => ({ ...source, file })));
  const missing = wanted.filter((source) => !existsSync(locationOf(source)));
  for (const [, sources] of Map.groupBy(missing, ({ repository, commit }) => `${repository} ${commit}`)) {
    await fetchFiles(sources);
  }
}

async function fetchFiles(sources: readonly Source[]): Promise<void> {
  const [{ repository = '', commit = '' } = {}] = sources;
  const folder = await mkdtemp(join(tmpdir(), 'descriptions-'));
  const git = (...parts: string[]) => run('git', ['-C', folder, ...parts], { maxBuffer: MAX_BYTES });
  try {
    await git('init', '--quiet');
    await git('fetch', '--quiet', '--depth=1', `https://github.com/${repository}.git`, commit);
    for (const source of sources) {
      const { stdout } = await git('show', `${commit}:${source.file}`);
      const target = locationOf(source);
      await mkdir(new URL('.', target), { recursive: true });
      await writeFile(target, stdout);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

await fetchRepositories();
