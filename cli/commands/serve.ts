import cluster from 'node:cluster';
import type { Command } from '@commander-js/extra-typings';
import { PROCESSES } from '../../core/budgets.ts';
import { readConfig } from '../../http/config/config.ts';
import { wholeNumber } from '../options.ts';
import { examples } from '../output/print.ts';

/** `valetkey serve` */
export function configure(command: Command): void {
  command
    .description(
      'Start the server, and keep it running until SIGTERM, SIGINT or SIGHUP. Logs are JSON, or lines on a terminal (LOG_FORMAT).',
    )
    .option('--with-parent', 'stop when the process that started the server ends')
    .option(
      '--processes <number>',
      'serve the address with this many processes, with PostgreSQL only (VALETKEY_PROCESSES)',
      wholeNumber(1, PROCESSES.most),
    )
    .addHelpText('after', examples('serve', 'serve --env-file .env', 'serve --processes 2'))
    .action(serve);
}

interface Options {
  withParent?: true | undefined;
  processes?: number | undefined;
}

/**
 * Starts the server alone, as the parent of several processes, or as one of these processes. Only the module for this
 * case is loaded, because the parent needs few modules of the server.
 */
async function serve({ withParent, processes }: Options): Promise<void> {
  const parent = withParent ? process.ppid : null;
  const read = readConfig(process.env);
  const config = { ...read.config, processes: processes ?? read.config.processes };
  const settings = { config, secrets: read.secrets };
  if (config.processes === 1) return (await import('../serve/serve-alone.ts')).serveAlone(settings, parent);
  if (cluster.isWorker) return (await import('../serve/serve-as-worker.ts')).serveAsWorker(settings);
  return (await import('../serve/serve-as-parent.ts')).serveAsParent(settings, parent);
}
