import { UsageError } from './usage-error.ts';

/**
 * Adds the variables of a file to the environment, as `node --env-file` does. Variables that are set keep their values.
 * Node 24 also handles the option itself, even after the name of the program, and exits with 9 if the file does not
 * exist.
 */
export function loadEnvFile(path: string | undefined): void {
  if (path === undefined) return;
  try {
    process.loadEnvFile(path);
  } catch (error) {
    throw new UsageError(`--env-file ${path} cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
}
