import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { migrate } from '../../../db/postgres/migrate.ts';
import { addressOf, postgresProgram } from '../../../scripts/postgres/cluster.ts';
import { supportsPreparedStatements } from './pgbouncer.ts';

/** The variable with the directory of the test server's socket; `with-postgres.ts` sets it. */
export const SOCKET = 'VALETKEY_TEST_POSTGRES';

export const TEMPLATE = 'valetkey_template';

/** The variable with the directory of the socket of a connection pool in front of the server, if there is one. */
export const POOLER = 'VALETKEY_TEST_POOLER';

/** Whether connections to the test server pass a connection pool. */
export function isPooled(): boolean {
  return Boolean(process.env[POOLER]);
}

/** Whether connections to the test server can use prepared statements. */
export function canPrepare(): boolean {
  return !isPooled() || supportsPreparedStatements();
}

/** Whether a test server is running; tests of PostgreSQL alone are skipped otherwise. */
export function isAvailable(): boolean {
  return Boolean(process.env[SOCKET]);
}

/** SQLite's JSON functions for PostgreSQL. Tests use them to change rows as an attacker could. */
const JSON_SET = String.raw`
create function json_set(document text, path text, value json) returns text language sql as $$
  select jsonb_set(document::jsonb, string_to_array(regexp_replace(substr(path, 3), '\[(\d+)\]', '.\1', 'g'), '.'), value::jsonb)::text
$$;
create function json_set(document text, path text, value text) returns text language sql as $$
  select json_set(document, path, to_json(value))
$$;
create function json_insert(document text, path text, value text) returns text language sql as $$
  select jsonb_insert(document::jsonb, string_to_array(regexp_replace(substr(path, 2), '^\.|\[#\]$', '', 'g'), '.') || '{-1}'::text[], to_jsonb(value), true)::text
$$;`;

/** Creates the database that the others are copied from. */
export async function createTemplate(socket: string): Promise<void> {
  psql(socket, 'postgres', `create database ${TEMPLATE}`);
  await migrate(addressOf(socket, TEMPLATE), () => 0);
  psql(socket, TEMPLATE, JSON_SET);
}

/** Creates a database with all tables, by default without rows. @returns its name */
export function createDatabase(name = `test_${randomBytes(8).toString('hex')}`, template = TEMPLATE): string {
  psql(socketOfTests(), 'postgres', `create database ${name} template ${template} strategy file_copy`);
  return name;
}

/** Makes a database without tables. @returns its name */
export function createEmptyDatabase(): string {
  const name = `test_${randomBytes(8).toString('hex')}`;
  psql(socketOfTests(), 'postgres', `create database ${name}`);
  return name;
}

export function databaseExists(name: string): boolean {
  return psql(socketOfTests(), 'postgres', `select 1 from pg_database where datname = '${name}'`).trim() === '1';
}

export function dropDatabase(name: string): void {
  psql(socketOfTests(), 'postgres', `drop database if exists ${name} with (force)`);
}

export function urlOf(name: string): string {
  return addressOf(process.env[POOLER] ?? socketOfTests(), name);
}

/** Returns the address of a database without the connection pool. */
export function directUrlOf(name: string): string {
  return addressOf(socketOfTests(), name);
}

/** Runs statements as an operator. @returns the rows of the last one, one line each */
export function runIn(name: string, statements: string): string {
  return psql(socketOfTests(), name, statements);
}

export function socketOfTests(): string {
  const socket = process.env[SOCKET];
  if (!socket) throw new Error(`${SOCKET} is not set: run the tests with \`make test-postgres\``);
  return socket;
}

function psql(socket: string, database: string, statements: string): string {
  const args = [
    '-X',
    '-q',
    '-A',
    '-t',
    '-v',
    'ON_ERROR_STOP=1',
    '-h',
    socket,
    '-U',
    'postgres',
    '-d',
    database,
    '-f',
    '-',
  ];
  const done = spawnSync(postgresProgram('psql'), args, {
    input: statements,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  if (done.status !== 0) throw new Error(`psql: ${done.stderr}`);
  return done.stdout;
}
