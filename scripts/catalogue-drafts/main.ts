import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { openDocument } from '../catalogue-vendors/document.ts';
import { readSources, type Source, stampOf } from '../catalogue-vendors/source.ts';
import type { StampedDocument } from '../catalogue-vendors/stamps.ts';
import { type Drafts, readDrafts } from './drafts.ts';
import { toolOf } from './tool.ts';
import { noticeOf, toolFile } from './tool-file.ts';

const TOOLS = new URL('../../catalogue/tools/', import.meta.url);
const { values } = parseArgs({ options: { connector: { type: 'string' } } });
const sources = await readSources();
const problems: string[] = [];
let count = 0;

for (const drafts of await readDrafts()) {
  if (values.connector !== undefined && values.connector !== drafts.connector) continue;
  const made = await toolsOf(drafts, sources.get(drafts.connector) ?? []);
  await write(drafts.connector, made);
  count += made.size;
}
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
console.log(`${count} tools`);

async function toolsOf(drafts: Drafts, described: readonly Source[]): Promise<Map<string, string>> {
  const documents: StampedDocument[] = [];
  for (const source of described) documents.push({ stamp: await stampOf(source), vendor: await openDocument(source) });
  const made = new Map<string, string>();
  for (const [tag, list] of Object.entries(drafts.tools)) {
    for (const entry of list) {
      const name = `${drafts.connector}_${entry.do}.yaml`;
      try {
        if (made.has(name)) throw new Error('is described twice');
        made.set(name, toolFile(toolOf(entry, tag, drafts, documents), `${drafts.connector}.yaml`));
      } catch (error) {
        problems.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  }
  return made;
}

/** Writes the tools of a connector, and removes generated ones that are no longer described. */
async function write(connector: string, made: ReadonlyMap<string, string>): Promise<void> {
  const folder = new URL(`${connector}/`, TOOLS);
  await mkdir(folder, { recursive: true });
  for (const file of await readdir(folder)) {
    const isMade = (await readFile(new URL(file, folder), 'utf8')).startsWith(noticeOf(`${connector}.yaml`));
    if (isMade && !made.has(file)) await rm(new URL(file, folder));
    if (!isMade && made.has(file)) throw new Error(`catalogue/tools/${connector}/${file} was written by hand`);
  }
  for (const [file, text] of made) await writeFile(new URL(file, folder), text);
}
