import { createExecutionContents, type ExecutionContentsStore } from '../core/contents/execution-contents.ts';
import { createStoredFiles, type StoredFiles } from '../core/contents/stored-files.ts';
import { type CheckCredentials, createCredentialCheck } from '../core/executions/credential-check.ts';
import { createResponseReader, type ResponseReader } from '../core/executions/response-reader.ts';
import type { Keys } from './keys.ts';
import type { Outbound } from './outbound.ts';
import type { Runtime } from './runtime.ts';
import type { Setup } from './setup.ts';
import type { Storage } from './storage.ts';

export interface ExecutionParts {
  /** Reads the responses to tool calls. */
  readonly responses: ResponseReader;
  /** Asks providers whether they accept credentials that are not stored yet. */
  readonly checkCredentials: CheckCredentials;
  /** Files that tools returned, stored for an hour. */
  readonly files: StoredFiles;
  /** Stores inputs and results of executions, for environments whose settings say so. */
  readonly executionContents: ExecutionContentsStore;
}

type Deps = Pick<Runtime, 'now' | 'newId' | 'threads' | 'random' | 'wait'> &
  Pick<Outbound, 'egressOf'> &
  Pick<Storage, 'store'> &
  Pick<Keys, 'vault' | 'sealedTokens'>;

/** Creates the parts that read the responses of calls and store their contents. */
export function createExecutionParts({ choose }: Pick<Setup, 'choose'>, deps: Deps): ExecutionParts {
  const { threads, now, sealedTokens } = deps;
  const responses = choose('responses', () => createResponseReader(threads.responses, now));
  return {
    responses,
    checkCredentials: createCredentialCheck({ ...deps, responses }),
    files: createStoredFiles({ ...deps, tokens: sealedTokens }),
    executionContents: createExecutionContents(deps),
  };
}
