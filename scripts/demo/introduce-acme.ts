import type { Acme } from './acme.ts';
import { ACME, ACME_PATTERN } from './acme.ts';
import type { Api } from './api.ts';

/**
 * Registers Acme and Valetkey with each other: a provider and a connection in Valetkey, a client with its callback at
 * Acme.
 *
 * @param origin the address of Valetkey for browsers
 * @returns the name of the connection, which links and accounts use
 */
export async function introduceAcme(api: Api, acme: Acme, origin: string): Promise<string> {
  const provider = { display_name: 'Acme Files', auth_patterns: [ACME_PATTERN], proxy_enabled: true, proxy_url: ACME };
  const created = await api.call(201, 'POST', '/api/v1/custom-providers', provider);
  const client = { client_id: 'valetkey-demo', client_secret: 'acme-client-secret-4711' };
  const connection = { connector: created.body.provider.identifier, key_id: 'acme', ...client };
  const { id } = (await api.call(201, 'POST', '/api/v1/connections', connection)).body.connection;
  await acme.register({ ...client, redirect_uri: `${origin}/oauth/callback/${id}` });
  return 'acme';
}
