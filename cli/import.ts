import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import { ApiError } from '../core/errors.ts';
import { applyImport, namesBefore } from '../core/imports/apply-import.ts';
import { presentImport } from '../core/imports/present-import.ts';
import { preview } from '../core/imports/preview.ts';
import { importDocument } from '../core/openapi-conversion/import-document.ts';
import { loadDocument, type SourceFile } from '../core/openapi-conversion/load.ts';
import { snake } from '../core/openapi-conversion/names.ts';
import { summarizeReport } from '../core/openapi-conversion/report-summary.ts';
import { isRecord } from '../core/tools/pointer.ts';
import type { EnvironmentRow, Transaction } from '../db/store.ts';
import { openImportTools } from './import-tools.ts';
import { openStorage } from './open-storage.ts';
import { UsageError } from './usage-error.ts';

export const IMPORT_USAGE =
  'import <file>... [--overlay <file>]... [--connector <name>] [--base-url <https address>] [--tag <tag>]... [--limit <n>] [--environment <id>] [--dry-run] [--json]';

/** `valetkey import`: converts an OpenAPI document to a provider and its tools, with or without a running server. */
export async function importCommand(args: string[]): Promise<void> {
  try {
    await run(args);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const details = (error.errors ?? []).map(({ field, message }) => `\n  ${field} ${message}`);
    throw new UsageError(error.message + details.join(''));
  }
}

async function run(args: string[]): Promise<void> {
  const options = readOptions(args);
  const files = options.files.map(readSource);
  const connector = options.connector ?? connectorOf(files);
  const storage = await openStorage();
  try {
    const { store } = storage;
    const environment = chosen(await store.read.environments.list(), options.environment);
    const tools = openImportTools(storage, environment);
    const result = await importDocument({
      files,
      overlays: options.overlays.map(readSource),
      connector,
      ...(await namesBefore(store.read, tools.catalogue, environment.id, connector)),
      ...(options.tags && { include: { tags: options.tags } }),
      ...(options.limit !== undefined && { limit: options.limit }),
      progress: showProgress,
    });
    const target = { connector, baseUrl: options.baseUrl };
    const cause = { environmentId: environment.id, actor: 'operator', requestId: '' };
    const apply = (tx: Transaction) => applyImport(tx, tools, environment.id, target, result, cause);
    const changes = options.dryRun ? await preview(store, apply) : await store.write(apply);
    const shown = presentImport(!options.dryRun, changes, summarizeReport(result.report));
    if (options.json) console.log(JSON.stringify(shown, null, 2));
    else print(shown);
  } finally {
    await storage.store.close();
  }
}

function readOptions(args: string[]) {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const many = { ...text, multiple: true } as const;
  const options = {
    overlay: many,
    connector: text,
    'base-url': text,
    tag: many,
    limit: text,
    environment: text,
    'dry-run': flag,
    json: flag,
  };
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    if (positionals.length === 0) throw new Error(`it is ${IMPORT_USAGE}`);
    const limit = values.limit === undefined ? undefined : Number(values.limit);
    if (limit !== undefined && !(Number.isInteger(limit) && limit > 0))
      throw new Error('--limit must be a number above 0');
    return {
      files: positionals,
      overlays: values.overlay ?? [],
      connector: values.connector,
      baseUrl: values['base-url'],
      tags: values.tag,
      limit,
      environment: values.environment,
      dryRun: values['dry-run'],
      json: values.json,
    };
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function readSource(path: string): SourceFile {
  return { name: path, text: readFileSync(path, 'utf8') };
}

/** Returns the document's title as an identifier, otherwise the name of its file. */
function connectorOf(files: readonly SourceFile[]): string {
  const { info } = loadDocument(files);
  const title = snake(isRecord(info) && typeof info['title'] === 'string' ? info['title'] : '');
  const name = title || snake(basename(files[0]?.name ?? '').replace(/\.[^.]*$/, ''));
  return name.replaceAll('_', '-').slice(0, 80).replace(/-$/, '') || 'imported';
}

function chosen(environments: EnvironmentRow[], id: string | undefined): EnvironmentRow {
  const [first, ...others] =
    id === undefined ? environments : environments.filter((environment) => environment.id === id);
  if (!first) throw new UsageError('there is no such environment; valetkey environments list shows them');
  if (others.length > 0) throw new UsageError('there are several environments: name one by --environment');
  return first;
}

function showProgress(done: number, of: number): void {
  if (process.stderr.isTTY || done === of) process.stderr.write(`${done} of ${of} operations\n`);
}

function print({ applied, provider, changes, report }: ReturnType<typeof presentImport>): void {
  const { added, changed, removed, unchanged } = changes;
  for (const [mark, names] of [
    ['+', added],
    ['~', changed],
    ['-', removed],
  ] as const)
    for (const name of names) console.log(`${mark} ${name}`);
  console.log(
    `\n${report.imported} of ${report.operations} operations: ${added.length} added, ${changed.length} changed, ${removed.length} removed, ${unchanged} as before.`,
  );
  for (const [reason, count] of Object.entries(report.left_out_counts)) console.log(`  ${count} left out: ${reason}`);
  for (const [kind, count] of Object.entries(report.note_counts)) console.log(`  ${count} noted: ${kind}`);
  for (const { scheme, type, detail } of report.credentials)
    console.log(`Credential ${scheme}: ${type ?? 'cannot be expressed'}. ${detail}`);
  for (const warning of report.warnings) console.log(`Note: ${warning}`);
  console.log(
    `Provider ${provider.identifier} ${provider.action}: ${provider.base_url} (${provider.authorization_types.join(', ')}).`,
  );
  if (provider.accounts_parked > 0)
    console.log(`${provider.accounts_parked} accounts must be authorized again: the address changed.`);
  console.log(applied ? 'Stored.' : 'Nothing was stored: this was a dry run. --json shows the whole report.');
}
