import type { Command } from '@commander-js/extra-typings';
import { isRecord } from '../../core/tools/pointer.ts';
import type { components } from '../../generated/api.d.ts';
import { notValetkey, openApi, openPublicApi, parsed, resultOf } from '../api/client.ts';
import { ApiFailure } from '../api/failures.ts';
import { withServer } from '../api/options.ts';
import { hasCredential, readOrigin } from '../api/settings.ts';
import { EXIT } from '../exit-codes.ts';
import { examples, printResult } from '../output/print.ts';
import { fields } from '../output/table.ts';

type Readiness = components['schemas']['Readiness'];

const STATUSES = ['ACTIVE', 'EXPIRED', 'PENDING_AUTH', 'PENDING_VERIFICATION', 'DISCONNECTED'] as const;

/**
 * `valetkey status`: shows whether the server is ready. With a credential, it also shows the number of accounts by
 * status, and the token refreshes of the last 24 hours. Exits with 1 if the server is not ready.
 */
export function configure(command: Command): void {
  withServer(
    command.description(
      'Show whether a server is ready and, with a credential, its environment, accounts and refreshes.',
    ),
  )
    .addHelpText('after', examples('status', 'status --server https://keys.example.com --json'))
    .action(async (options) => {
      const origin = readOrigin(process.env, options.server);
      const { status, checks } = await readReadiness(origin);
      const inside = hasCredential(process.env) ? await readEnvironment(options) : null;
      printResult(options, { server: origin, status, checks, ...inside }, () =>
        fields({
          Server: origin,
          Status: status,
          Database: checks?.database,
          Keys: checks?.keys,
          ...(inside && {
            Environment: inside.environment_id,
            ...inside.accounts,
            'Refreshes (24 h)': sentence(inside.refreshes),
          }),
        }),
      );
      if (status !== 'ready') process.exitCode = EXIT.failed;
    });
}

/**
 * Returns the readiness of a server; a server that is not ready is not an error. @throws ApiFailure, UsageError for a
 * response of another program, for example a proxy
 */
async function readReadiness(origin: string): Promise<Readiness> {
  const { data, error, response } = await parsed(openPublicApi(origin).GET('/readyz'));
  const body: unknown = data ?? error;
  if (isRecord(body) && typeof body['status'] === 'string') return body as Readiness;
  throw response.ok ? notValetkey() : new ApiFailure(response.status, error);
}

async function readEnvironment(options: { server?: string | undefined }) {
  const api = openApi(options);
  const counts = await Promise.all(
    STATUSES.map(async (status) => {
      const query = { status, page_size: 1 };
      const { total_size } = await resultOf(api.GET('/api/v1/connected_accounts', { params: { query } }));
      return [status, total_size] as const;
    }),
  );
  const accounts = Object.fromEntries(counts) as Record<(typeof STATUSES)[number], number>;
  const query = { group_by: 'outcome' } as const;
  const { total } = await resultOf(api.GET('/api/v1/connected_accounts:refresh_statistics', { params: { query } }));
  const { key: _key, ...refreshes } = total;
  // Only a client with the scope `admin` may read the environment.
  const { data } = await api.GET('/api/v1/environment');
  return { environment_id: data?.environment.id ?? null, accounts, refreshes };
}

function sentence({
  refreshes,
  succeeded,
  expired,
  failed,
}: Record<'refreshes' | 'succeeded' | 'expired' | 'failed', number>) {
  return `${refreshes}: ${succeeded} succeeded, ${expired} expired their account, ${failed} failed for now`;
}
