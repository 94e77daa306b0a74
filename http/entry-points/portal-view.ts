import type { ToolDirectory } from '../../core/discovery/directory.ts';
import type { Overview, PortalAccount, PortalCall, PortalConnection, PortalGrant } from '../../core/portal/overview.ts';
import { RAW_CALL } from '../../core/tools/tool.ts';
import type { EnvironmentRow, PortalSessionRow, ReadRepositories } from '../../db/store.ts';
import type { Notice, PortalView } from '../../web/portal/portal-page.ts';
import { markOf } from './provider-mark.ts';

export interface ViewDeps {
  store: { readonly read: ReadRepositories };
  toolDirectory: Pick<ToolDirectory, 'find'>;
}

/** @param formToken returns the token of the form of an action */
export async function portalView(
  deps: ViewDeps,
  environment: EnvironmentRow,
  session: PortalSessionRow,
  { accounts, connectable, grants, calls }: Overview,
  formToken: (action: string) => string,
  notice: Notice | undefined,
): Promise<PortalView> {
  const form = (path: string, name: string, id: string) => ({
    action: `/portal/${path}/${id}/${name}`,
    token: formToken(`${name} ${id}`),
  });
  const accountView = ({ account, lastUsedAt, canConnect, ...described }: PortalAccount) => ({
    provider: providerOf(described),
    identifier: account.identifier,
    status: account.status,
    lastUsedAt,
    scopes: scopesOf(described),
    dataLanguage: described.provider && !described.provider.isCustom ? 'en' : '',
    reconnect: canConnect ? form('accounts', 'reconnect', account.id) : undefined,
    disconnect: account.status === 'DISCONNECTED' ? undefined : form('accounts', 'disconnect', account.id),
  });
  const grantView = ({ grant, providers }: PortalGrant) => ({
    client: grant.clientName || grant.redirectHost,
    host: grant.redirectHost,
    providers,
    createdAt: grant.createdAt,
    lastUsedAt: grant.usedAt,
    revoke: form('grants', 'revoke', grant.id),
  });
  const callView = async ({ execution, account }: PortalCall) => {
    const { toolName, startedAt, status } = execution;
    const known = await deps.toolDirectory.find(deps.store.read, environment.id, toolName);
    return {
      tool: toolName === RAW_CALL ? '' : (known?.tool.title ?? toolName),
      dataLanguage: known?.source === 'catalogue' && !known.isRetitled ? 'en' : '',
      provider: providerOf(account).name,
      identifier: account.account.identifier,
      startedAt,
      status,
    };
  };
  return {
    identifier: session.identifier,
    returnUrl: session.returnUrl ?? '',
    notice,
    accounts: accounts.map(accountView),
    connectable: connectable.map((one) => ({
      provider: providerOf(one),
      connect: form('connections', 'connect', one.connection.id),
    })),
    grants: grants.map(grantView),
    calls: await Promise.all(calls.map(callView)),
    signOut: { action: '/portal/sign_out', token: formToken('sign_out ') },
  };
}

function providerOf({ provider, connection }: Pick<PortalConnection, 'provider' | 'connection'>) {
  return provider ? markOf(provider) : { name: connection.keyId, iconUrl: '' };
}

function scopesOf({ scopes }: Pick<PortalConnection, 'scopes'>) {
  return scopes.map(({ display_name: name, description = '' }) => ({ name, description }));
}
