import { AsyncLocalStorage } from 'node:async_hooks';
import type { ServerEventBus } from '@modelcontextprotocol/server';
import type { McpExchange } from './exchange.ts';
import type { ListChanges, ListWatch } from './list-changes.ts';
import type { OpenStreams } from './open-streams.ts';
import { sessionOf } from './session.ts';

const TOO_MANY = -32_000;

/**
 * Serves `subscriptions/listen` of the revision 2026-07-28. The event bus of the MCP SDK sends each change to all
 * streams. This bus sends a stream only the changes that concern its session.
 */
export function createSubscriptions(streams: OpenStreams, changes: Pick<ListChanges, 'watch'> | undefined) {
  const current = new AsyncLocalStorage<ListWatch>();
  const bus: ServerEventBus = {
    publish() {},
    subscribe(listener) {
      const watch = current.getStore();
      if (!watch) return () => {};
      watch.changed = (kind) => listener({ kind: `${kind}_list_changed` });
      return () => watch.stop();
    },
  };

  return {
    bus,
    /**
     * Serves a request of any method with `run`. If changes are watched, a `subscriptions/listen` request is first
     * counted, and rejected if too many streams are open. Its lists are watched before the SDK acknowledges it, so that
     * no change is missed.
     */
    async serve(exchange: McpExchange, run: () => Promise<Response>): Promise<Response> {
      const { method, id } = (exchange.parsedBody ?? {}) as { method?: unknown; id?: unknown };
      if (method !== 'subscriptions/listen' || !changes) return run();
      if (!streams.take(exchange)) {
        const error = { code: TOO_MANY, message: 'Too many streams are open. Read the lists again from time to time.' };
        return Response.json({ jsonrpc: '2.0', id: id ?? null, error });
      }
      const watch = await changes.watch(sessionOf(exchange.auth));
      exchange.onEnd(watch.stop);
      return current.run(watch, run);
    },
  };
}
