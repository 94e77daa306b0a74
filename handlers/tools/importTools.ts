import type { Providers } from '../../core/capabilities/providers.ts';
import { ApiError } from '../../core/errors.ts';
import { applyImport, type ImportChanges } from '../../core/imports/apply-import.ts';
import { namesBefore } from '../../core/imports/names-before.ts';
import { presentImport } from '../../core/imports/present-import.ts';
import { preview } from '../../core/imports/preview.ts';
import { importInThread } from '../../core/openapi-conversion/import-job.ts';
import type { Handler } from '../../http/contract.ts';
import { toolsFor } from '../custom-providers/custom-provider.ts';

const PROVIDERS_WRITE = 'providers:write';

export const importTools: Handler<'importTools', Providers> = async (call, reply, providers) => {
  const {
    connector,
    files,
    overlays = [],
    base_url: baseUrl,
    display_name: displayName,
    apply = false,
    ...selection
  } = call.body;
  const { environment, cause } = call;
  const before = await namesBefore(providers.store.read, providers.catalogue, environment.id, connector);
  const texts = (list: { name: string; content: string }[]) =>
    list.map(({ name, content }) => ({ name, text: content }));
  const result = await importInThread(providers.threads.imports, environment.id, {
    ...selection,
    ...before,
    connector,
    files: texts(files),
    overlays: texts(overlays),
  });
  const target = { connector, baseUrl, displayName };
  const tools = toolsFor(environment, providers);
  if (!apply) {
    const changes = await preview(providers.store, (tx) =>
      applyImport(tx, tools, environment.id, target, result, cause),
    );
    return call.commit(async () => reply(200, presentImport(false, changes, result.report)));
  }
  return call.commit(async (tx) => {
    const changes = await applyImport(tx, tools, environment.id, target, result, cause);
    const { provider } = changes;
    if (provider.action !== 'kept') requireProvidersWrite(call.client.scopes, provider);
    if (provider.action === 'updated') {
      tx.afterCommit(providers.scrubStorage);
    }
    return reply(200, presentImport(true, changes, result.report));
  });
};

/** Rejects an import that would create or change a provider, unless the token has the scope for provider operations. */
function requireProvidersWrite(scopes: readonly string[], { identifier, action }: ImportChanges['provider']): void {
  if (scopes.includes(PROVIDERS_WRITE)) return;
  const what = action === 'created' ? 'creates' : 'changes';
  const detail = `The import ${what} the provider ${identifier}, which needs the scope ${PROVIDERS_WRITE}.`;
  throw new ApiError('INSUFFICIENT_SCOPE', detail, { scope: PROVIDERS_WRITE });
}
