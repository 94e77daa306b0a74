import type { Facts, Manifest } from '../../database-files.ts';
import type { Client } from '../open.ts';

const TABLE = 'backup_manifest';

/** Reads the part of a manifest that comes from the database. */
export function readFacts(client: Client): Facts {
  const names = client
    .prepare(
      `select name from sqlite_schema where type = 'table' and name <> '${TABLE}'
        and name not like 'sqlite\\_%' escape '\\' and name not like 'accounts\\_search%' escape '\\' order by name`,
    )
    .pluck()
    .all() as string[];
  const count = (name: string) => client.prepare(`select count(*) from "${name}"`).pluck().get() as number;
  return {
    schema: client.prepare('select max(name) from migrations').pluck().get() as string,
    keyIds: client.prepare('select kek_id from key_checks order by kek_id').pluck().all() as string[],
    counts: Object.fromEntries(names.map((name) => [name, count(name)])),
  };
}

/** Writes a manifest into a copy, replacing an earlier one. */
export function writeManifest(client: Client, manifest: Manifest): void {
  client.exec(`drop table if exists ${TABLE}; create table ${TABLE} (manifest text not null) strict`);
  client.prepare(`insert into ${TABLE} values (?)`).run(JSON.stringify(manifest));
}

/** @returns undefined for a database that is not a backup */
export function readManifest(client: Client): Manifest | undefined {
  const exists = client.prepare('select 1 from sqlite_schema where name = ?').get(TABLE) !== undefined;
  const text = exists ? client.prepare(`select manifest from ${TABLE}`).pluck().get() : undefined;
  return typeof text === 'string' ? (JSON.parse(text) as Manifest) : undefined;
}

/** Removes the manifest, which turns a backup into a database. */
export function removeManifest(client: Client): void {
  client.exec(`drop table if exists ${TABLE}`);
}
