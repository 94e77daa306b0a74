import { loadMigrations } from '../load-migrations.ts';
import { appliedTo, requireSchema } from '../schema.ts';
import { type Check, fail, ok, strings, warn } from './tools.ts';

const HERE = 'relnamespace = current_schema()::regnamespace';

/** The tables, indexes and privileges. */
export const SCHEMA_CHECKS: readonly Check[] = [
  [
    'schema',
    async ({ query }) => {
      try {
        await requireSchema(query);
      } catch (error) {
        return fail((error as Error).message);
      }
      const applied = await appliedTo(query);
      const contract = loadMigrations().length - applied.length;
      const newest = applied.at(-1)?.name ?? '';
      return contract > 0 ? warn(`${newest}; run \`valetkey db migrate --contract\` after the upgrade`) : ok(newest);
    },
  ],
  [
    'indexes',
    async ({ query }) => {
      const present = await strings(
        query,
        "select relname from pg_class where relkind = 'i' and relnamespace = current_schema()::regnamespace",
      );
      const missing = expectedIndexes().filter((name) => !present.includes(name));
      return missing.length === 0 ? ok(`${present.length} indexes`) : fail(`missing: ${missing.join(', ')}`);
    },
  ],
  [
    'valid indexes',
    async ({ query }) => {
      const invalid = await strings(
        query,
        `select c.relname from pg_index i join pg_class c on c.oid = i.indexrelid
      where c.relnamespace = current_schema()::regnamespace and not (i.indisvalid and i.indisready)`,
      );
      return invalid.length === 0
        ? ok('all are valid')
        : fail(`invalid: ${invalid.join(', ')}; \`reindex index concurrently\` repairs them`);
    },
  ],
  [
    'privileges',
    async ({ query }) => {
      const lacking = await strings(
        query,
        `select relname from pg_class, unnest(array['select', 'insert', 'update', 'delete']) as privilege
         where ${HERE} and relkind = 'r' and not has_table_privilege(oid, privilege)
         union select relname from pg_class
           where ${HERE} and case when relkind = 'S' then not has_sequence_privilege(oid, 'usage') else false end`,
      );
      if (lacking.length > 0)
        return fail(`this role cannot use ${lacking.join(', ')}: grant it all privileges on them`);
      const owners = await strings(
        query,
        `select distinct pg_get_userbyid(relowner) from pg_class where ${HERE} and relkind = 'r'`,
      );
      return owners.length > 1
        ? warn(`the tables have several owners: ${owners.join(', ')}`)
        : ok(`the owner of the tables is ${owners.join()}`);
    },
  ],
  [
    'extensions',
    async ({ query }) => {
      const present = await strings(query, 'select extname from pg_extension');
      const missing = ['pg_trgm', 'btree_gin'].filter((name) => !present.includes(name));
      return missing.length === 0
        ? ok('pg_trgm, btree_gin')
        : fail(`missing: ${missing.join(', ')}; \`create extension\` adds them`);
    },
  ],
  [
    'collation',
    async ({ query }) => {
      const loose = await strings(
        query,
        `select table_name || '.' || column_name from information_schema.columns
      where table_schema = current_schema() and data_type = 'text' and collation_name is distinct from 'C'
        and table_name in (select relname from pg_class where relkind = 'r')`,
      );
      return loose.length === 0 ? ok('texts are compared by bytes') : fail(`not "C": ${loose.join(', ')}`);
    },
  ],
];

/** Returns the names of the indexes that the migrations create. */
function expectedIndexes(): string[] {
  const text = loadMigrations()
    .map(({ sql }) => sql)
    .join('\n');
  const dropped = new Set([...text.matchAll(/^drop index (?:if exists )?(\w+)/gm)].map(([, name]) => name));
  const created = [...text.matchAll(/^create (?:unique )?index (?:concurrently )?(\w+)/gm)].map(
    ([, name]) => name as string,
  );
  return created.filter((name) => !dropped.has(name));
}
