import { statSync } from 'node:fs';
import { UsageError } from './usage-error.ts';

/**
 * Adds the variables of a file to the environment, as `node --env-file` does. Variables that are set keep their values.
 * Node 24 itself also handles the option `--env-file`, even after the name of the program, and exits with 9 if the file
 * does not exist. Node has already read a pipe to its end when this program runs, so the variables in it are lost.
 *
 * @throws UsageError if the path is not of a regular file, or the file cannot be read
 */
export function loadEnvFile(path: string | undefined): void {
  if (path === undefined) return;
  try {
    if (!statSync(path).isFile())
      throw new UsageError(`--env-file ${path} must be a regular file, not a pipe or a device`);
    process.loadEnvFile(path);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`--env-file ${path} cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
}
