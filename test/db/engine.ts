import { createPostgresTestDatabase } from './postgres/test-database.ts';
import { createSqliteTestDatabase } from './sqlite/test-database.ts';
import type { TestDatabase } from './test-database.ts';

const ENGINES: Record<string, () => TestDatabase> = {
  sqlite: createSqliteTestDatabase,
  postgres: createPostgresTestDatabase,
};

/** `VALETKEY_TEST_ENGINE` selects the engine that the conformance suite tests; SQLite by default. */
export function createTestDatabase(): TestDatabase {
  const name = process.env['VALETKEY_TEST_ENGINE'] ?? 'sqlite';
  const create = ENGINES[name];
  if (!create) throw new Error(`unknown VALETKEY_TEST_ENGINE ${name} (known: ${Object.keys(ENGINES).join(', ')})`);
  return create();
}
