import { fileURLToPath } from 'node:url';
import { type Migration, numberOf, readMigrations } from '../migrations.ts';

const DIRECTORY = fileURLToPath(new URL('./migrations', import.meta.url));

export function loadMigrations(directory: string = DIRECTORY): Migration[] {
  return readMigrations(directory);
}

let newest: number | undefined;

/** Returns the number of the newest migration that this program knows. */
export function newestMigration(): number {
  newest ??= numberOf(loadMigrations().at(-1) as Migration);
  return newest;
}
