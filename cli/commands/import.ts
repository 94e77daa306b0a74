import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { Command } from '@commander-js/extra-typings';
import { ApiError } from '../../core/errors.ts';
import { applyImport } from '../../core/imports/apply-import.ts';
import { namesBefore } from '../../core/imports/names-before.ts';
import { presentImport } from '../../core/imports/present-import.ts';
import { preview } from '../../core/imports/preview.ts';
import { importDocument } from '../../core/openapi-conversion/import-document.ts';
import { loadDocument, type SourceFile } from '../../core/openapi-conversion/load.ts';
import { snake } from '../../core/openapi-conversion/names.ts';
import { summarizeReport } from '../../core/openapi-conversion/report-summary.ts';
import { isRecord } from '../../core/tools/pointer.ts';
import type { EnvironmentRow, Transaction } from '../../db/store.ts';
import { openImportTools } from '../import-tools.ts';
import { openStorage } from '../open-storage.ts';
import { repeated, wholeNumber } from '../options.ts';
import { describeImport } from '../output/import-report.ts';
import { examples, JSON_FLAG, JSON_HELP, printResult } from '../output/print.ts';
import { createProgress } from '../output/progress.ts';
import { UsageError } from '../usage-error.ts';

/** `valetkey import`: converts an OpenAPI document to a provider and its tools, with or without a running server. */
export function configure(command: Command): void {
  command
    .argument('<files...>', 'the document, and the files that it refers to')
    .option('--overlay <file>', 'an OpenAPI overlay; can be repeated', repeated)
    .option('--connector <name>', 'the identifier of the provider; by default the title of the document')
    .option('--base-url <address>', 'the https address of the API, if the document does not name it')
    .option('--tag <tag>', 'import only operations with this tag; can be repeated', repeated)
    .option('--limit <number>', 'import at most this many operations', wholeNumber(1, 999_999))
    .option('--environment <id>', 'the environment, if there are several')
    .option('--dry-run', 'show what would change, and store nothing')
    .option(JSON_FLAG, JSON_HELP)
    .addHelpText(
      'after',
      examples(
        'import petstore.yaml --connector petstore --dry-run',
        'import api.json --overlay names.yaml --tag tickets',
      ),
    )
    .action(async (files, options) => {
      const shown = await importFiles(files, options).catch(explain);
      printResult(options, shown, () => describeImport(shown));
    });
}

interface Options {
  overlay?: string[] | undefined;
  connector?: string | undefined;
  baseUrl?: string | undefined;
  tag?: string[] | undefined;
  limit?: number | undefined;
  environment?: string | undefined;
  dryRun?: true | undefined;
}

/** Describes an error of the document as the API does, with the fields. */
function explain(error: unknown): never {
  if (!(error instanceof ApiError)) throw error;
  const details = (error.errors ?? []).map(({ field, message }) => `\n  ${field} ${message}`);
  throw new UsageError(error.message + details.join(''));
}

async function importFiles(paths: readonly string[], options: Options) {
  const files = paths.map(readSource);
  const connector = options.connector ?? connectorOf(files);
  const storage = await openStorage();
  const progress = createProgress({ unit: 'operations' });
  try {
    const { store } = storage;
    const environment = chosen(await store.read.environments.list(), options.environment);
    const tools = openImportTools(storage, environment);
    const result = await importDocument({
      files,
      overlays: (options.overlay ?? []).map(readSource),
      connector,
      ...(await namesBefore(store.read, tools.catalogue, environment.id, connector)),
      ...(options.tag && { include: { tags: options.tag } }),
      ...(options.limit !== undefined && { limit: options.limit }),
      progress: progress.report,
    });
    const target = { connector, baseUrl: options.baseUrl };
    const cause = { environmentId: environment.id, actor: 'operator', requestId: '' };
    const apply = (tx: Transaction) => applyImport(tx, tools, environment.id, target, result, cause);
    const changes = options.dryRun ? await preview(store, apply) : await store.write(apply);
    return presentImport(!options.dryRun, changes, summarizeReport(result.report));
  } finally {
    progress.end();
    await storage.store.close();
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
  if (!first && id === undefined) throw new UsageError('there is no environment yet; start the server to create one');
  if (!first) throw new UsageError(`there is no environment ${id}; valetkey environments list shows them`);
  if (others.length > 0) throw new UsageError('there are several environments: choose one with --environment <id>');
  return first;
}
