import type { KeepAlive, KeepAliveTools } from '../core/accounts/keep-alive.ts';
import { createKeepAlive as create } from '../core/accounts/keep-alive.ts';
import { BACKGROUND } from '../core/budgets.ts';
import type { Deps } from './deps.ts';
import { periodically } from './periodic.ts';

/** The first time comes soon: a server that is started again and again has to come to it as well. */
const PERIOD = { everyMs: BACKGROUND.keepAliveMs, soonMs: BACKGROUND.keepAliveFirstMs };

/** Keeps the grants of idle accounts alive, on the real clock. */
export function createKeepAlive(tools: KeepAliveTools & Pick<Deps, 'log'>): Pick<KeepAlive, 'stop'> {
  const { log } = tools;
  const keepAlive = create(tools);
  const run = async (): Promise<void> => {
    const { tried, renewed } = await keepAlive.run();
    if (tried > 0) log.info({ tried, renewed }, 'idle accounts were refreshed');
  };
  const { soon, stop } = periodically(run, PERIOD, (err) => log.error({ err }, 'idle accounts could not be read'));
  soon();
  return {
    stop: async () => {
      stop();
      await keepAlive.stop();
    },
  };
}
