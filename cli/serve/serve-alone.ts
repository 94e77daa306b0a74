import { inBackground } from '../../core/scheduling/background.ts';
import { printFirstStart } from '../first-start.ts';
import { offerConsole } from '../offer-console.ts';
import { endOnSignal, endWithParent } from './endings.ts';
import { printNextSteps } from './next-steps.ts';
import { describeServer, openServer, type Settings } from './open-server.ts';
import { warnOfSettings } from './warnings.ts';

/**
 * Runs the whole server in this process.
 *
 * @param parent the id of a process: when it has ended, this process ends too; null for none
 */
export async function serveAlone(settings: Settings, parent: number | null): Promise<void> {
  const { config, secrets } = settings;
  const { parts, firstStart, server } = await openServer(
    settings,
    { bindsFirst: true },
    ({ parts, firstStart, end }) => {
      endOnSignal(end);
      if (parent !== null) endWithParent(parent, parts.log, end);
      printFirstStart(firstStart);
    },
  );
  const { log } = parts;
  warnOfSettings(config, log);
  const facts = await describeServer(parts, secrets);
  log.info({ origin: server.origin, ...facts, pid: process.pid }, 'listening');
  log.flush();
  inBackground(server.warmUp, (err) => log.warn({ err }, 'warm-up failed, so the first requests may be slower'));
  await offerConsole(parts, firstStart);
  printNextSteps(server.origin, Boolean(firstStart.client ?? secrets.firstClient), parts.isShared);
}
