import { setImmediate as nextTurn } from 'node:timers/promises';
import { authorizationTypes, moduleOf } from '../../core/authorization/registry.ts';
import type { Connections } from '../../core/capabilities/connections.ts';
import { identityProviderOf } from '../../core/connections/vendor.ts';
import { pageTokens, readPage } from '../../core/paging.ts';
import { presentConnection } from '../../core/present/connection.ts';
import { inBatches } from '../../core/scheduling/in-batches.ts';
import type { ConnectionRow } from '../../db/store.ts';
import type { Handler, Schemas } from '../../http/contract.ts';

export const listConnections: Handler<'listConnections', Connections> = async (call, reply, connections) => {
  const { page_size: size, page_token: token, ...given } = call.query;
  const environmentId = call.environment.id;
  const vendorOf = (providerKey: string) => connections.catalogue.connector(providerKey)?.vendor;
  const { read } = connections.store;
  const filters = {
    organizationId: given.organization_id,
    status: given.status,
    enabled: given.enabled,
    types: given.type && authorizationTypes().filter((type) => moduleOf(type).connectionType === given.type),
    providerKeys: await providerKeys(),
  };

  /**
   * Returns the keys of the providers that the filters select; undefined if neither filter is given. The filter
   * `provider` selects by vendor. The vendor is a property of the connector, not of the row; a deleted provider has
   * none.
   */
  async function providerKeys(): Promise<string[] | undefined> {
    const { provider, connector } = given;
    if (provider === undefined) return connector === undefined ? undefined : [connector];
    const rows = await read.connections.listAll(environmentId);
    const keys = new Set(rows.map((row) => row.providerKey));
    const isAsked = (key: string) => connector === undefined || key === connector;
    return [...keys].filter((key) => isAsked(key) && identityProviderOf(vendorOf(key)) === provider);
  }

  const present = (row: ConnectionRow) => presentConnection(row, vendorOf(row.providerKey), call.environment);
  if (size === undefined && token === undefined) {
    const rows = await read.connections.listAll(environmentId, filters);
    const shown: Schemas['Connection'][] = [];
    await inBatches({ yieldToEventLoop: nextTurn }, rows, (batch) => shown.push(...batch.map(present)));
    const all = { next_page_token: '', prev_page_token: '', total_size: rows.length };
    return reply(200, { connections: shown, ...all });
  }
  const scope = { environmentId, list: 'listConnections', filters: given };
  const page = await read.connections.list(
    environmentId,
    filters,
    readPage(connections.sealedTokens, scope, token, size),
  );
  return reply(200, {
    connections: page.rows.map(present),
    ...pageTokens(connections.sealedTokens, scope, page, connections.now()),
    total_size: page.total,
  });
};
