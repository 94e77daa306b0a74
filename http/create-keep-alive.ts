import type { KeepAlive, KeepAliveTools } from '../core/accounts/keep-alive.ts';
import { createKeepAlive as create } from '../core/accounts/keep-alive.ts';
import type { Deps } from './deps.ts';

const EVERY_MS = 60 * 60 * 1000;
/** A server that is started again and again has to come to it as well. */
const FIRST_MS = 60 * 1000;

/** Keeps the grants of idle accounts alive, on the real clock. */
export function createKeepAlive(tools: KeepAliveTools & Pick<Deps, 'log'>): Pick<KeepAlive, 'stop'> {
  const { log } = tools;
  const keepAlive = create(tools);
  const run = async (): Promise<void> => {
    const { tried, renewed } = await keepAlive.run();
    if (tried > 0) log.info({ tried, renewed }, 'idle accounts were refreshed');
  };
  const quietly = () => void run().catch((err) => log.error({ err }, 'idle accounts could not be read'));
  const first = setTimeout(quietly, FIRST_MS).unref();
  const timer = setInterval(quietly, EVERY_MS).unref();
  return {
    stop: async () => {
      clearTimeout(first);
      clearInterval(timer);
      await keepAlive.stop();
    },
  };
}
