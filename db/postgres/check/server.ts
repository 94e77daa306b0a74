import { INSTANCE } from '../../../core/budgets.ts';
import { newestMigration } from '../load-migrations.ts';
import { type Check, fail, ok, settings, strings, warn } from './tools.ts';

const OLDEST = 150_000;
/**
 * Limits for the difference between the clocks of this machine and the database, in milliseconds. Tokens and leases
 * tolerate smaller differences.
 */
const CLOCK_MS = { warn: 1_000, fail: 30_000 };

/** The version, settings and clock of the server, and the Valetkey servers that use it. */
export const SERVER_CHECKS: readonly Check[] = [
  [
    'version',
    async ({ query }) => {
      const [number, text] = await settings(query, 'server_version_num', 'server_version');
      return Number(number) >= OLDEST ? ok(`PostgreSQL ${text}`) : fail(`PostgreSQL ${text}: 15 or later is required`);
    },
  ],
  [
    'encoding',
    async ({ query }) => {
      const [encoding] = await settings(query, 'server_encoding');
      return encoding === 'UTF8' ? ok('UTF8') : fail(`${encoding}: UTF8 is required`);
    },
  ],
  [
    'isolation',
    async ({ query }) => {
      const [readOnly] = await settings(query, 'default_transaction_read_only');
      if (readOnly === 'on')
        return fail('default_transaction_read_only is on: off is required, because Valetkey writes');
      await query({ text: 'begin isolation level serializable' });
      const [level] = await settings(query, 'transaction_isolation');
      await query({ text: 'rollback' });
      return level === 'serializable' ? ok(level) : fail(`transactions are ${level}: serializable is required`);
    },
  ],
  [
    'durability',
    async ({ query }) => {
      const [commit, fsync, pages] = await settings(query, 'synchronous_commit', 'fsync', 'full_page_writes');
      const off = [
        ...(fsync === 'off' ? ['fsync'] : []),
        ...(pages === 'off' ? ['full_page_writes'] : []),
        ...(commit === 'off' ? ['synchronous_commit'] : []),
      ];
      if (off.length > 0)
        return fail(`${off.join(', ')} off: turn on, because a crash can otherwise lose committed changes`);
      const [standbys] = await settings(query, 'synchronous_standby_names');
      if (!standbys) return ok(`synchronous_commit ${commit}; does not survive the loss of the primary`);
      const waiting = "select count(*) from pg_stat_replication where sync_state in ('sync', 'quorum')";
      if (Number((await strings(query, waiting))[0]) > 0)
        return ok(`synchronous_commit ${commit}; survives the loss of the primary`);
      return fail(
        'no standby of synchronous_standby_names is connected, so writes wait: connect one, or change the setting',
      );
    },
  ],
  [
    'connections',
    async ({ query, connections }) => {
      const [limit, reserved] = await settings(query, 'max_connections', 'superuser_reserved_connections');
      const servers = Math.floor((Number(limit) - Number(reserved)) / connections);
      const text = `max_connections ${limit}: enough for ${servers} servers with ${connections} each`;
      if (servers >= 2) return ok(text);
      const found = `${text}; increase max_connections or reduce DATABASE_CONNECTIONS`;
      return servers < 1 ? fail(found) : warn(found);
    },
  ],
  [
    'clock',
    async ({ query, now }) => {
      const before = now();
      const { rows } = await query({ text: 'select (extract(epoch from clock_timestamp()) * 1000)::bigint' });
      const difference = Math.round(Number(rows[0]?.[0]) - (before + now()) / 2);
      const text = `this machine and the database differ by ${Math.abs(difference)} ms`;
      if (Math.abs(difference) <= CLOCK_MS.warn) return ok(text);
      const found = `${text}; synchronize their clocks`;
      return Math.abs(difference) > CLOCK_MS.fail ? fail(found) : warn(found);
    },
  ],
  [
    'servers',
    async ({ query }) => {
      const { rows } = await query({
        text: `select count(*), min((to_jsonb(instances) ->> 'schema_number')::bigint), string_agg(distinct version, ', ') from instances
        where beat_at > (extract(epoch from clock_timestamp()) * 1000)::bigint - $1::bigint`,
        values: [INSTANCE.silentMs],
      });
      const [count, oldest, versions] = rows[0] as [number, number | null, string | null];
      if (count === 0) return ok('none is running');
      const text = `${count} running, version ${versions}`;
      return oldest !== null && oldest < newestMigration()
        ? warn(`${text}; some are older than this program`)
        : ok(text);
    },
  ],
];
