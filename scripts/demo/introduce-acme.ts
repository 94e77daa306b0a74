import type { Acme } from './acme.ts';
import { ACME, ACME_PATTERN } from './acme.ts';
import type { Api } from './api.ts';

/**
 * Makes Acme and Valetkey known to each other: a provider and a connection here, a client with its way back there.
 *
 * @param origin where browsers reach Valetkey
 * @returns the name of the connection, which links and accounts are asked for by
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
