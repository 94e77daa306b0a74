import type { AccountRow, EnvironmentId, ReadRepositories, Store, StoredContentFacts } from '../../db/store.ts';
import { LIFETIME, STORED, TOOL_REQUEST } from '../budgets.ts';
import type { IdPrefix } from '../ids.ts';
import { FileContent } from '../tools/file-content.ts';
import { inputProblem } from '../tools/input-problem.ts';
import type { SealedTokens } from '../vault/sealed-token.ts';
import type { Vault } from '../vault/vault.ts';
import { contentContext } from './content-context.ts';

/** A file of a response, as the API returns it. */
export interface FileResponse {
  file_id: string;
  file_name: string;
  mime_type: string;
  size: number;
  /** The file's address. Anyone who has it can fetch the file until `expires_at`. */
  url: string;
  /** RFC 3339. Until then, the file's id can also be used in the input of another tool. */
  expires_at: string;
}

export interface StoredFilesDeps {
  store: Pick<Store, 'read' | 'write'>;
  vault: Vault;
  tokens: SealedTokens;
  newId(prefix: IdPrefix): string;
  now(): number;
}

export interface StoredFiles {
  /**
   * Stores a file that a tool returned.
   *
   * @returns null if the stored files of the environment would exceed their size limit
   */
  keep(environmentId: EnvironmentId, account: Owner, file: FileContent): Promise<FileResponse | null>;
  /** Returns the decrypted files that an input names, by id. @throws ApiError INVALID_TOOL_INPUT as `requireFiles` */
  load(
    environmentId: EnvironmentId,
    account: Owner,
    named: readonly NamedFile[],
  ): Promise<ReadonlyMap<string, FileContent>>;
  /**
   * Returns the file for a token from an address that `keep` returned; null for any other token, or if the file has
   * expired.
   */
  open(environmentId: EnvironmentId, token: string): Promise<FileContent | null>;
}

export type Owner = Pick<AccountRow, 'id' | 'organizationId' | 'userId'>;

/** A stored file, and the input field that names it. */
export interface NamedFile {
  field: string;
  id: string;
}

const PURPOSE = 'file address';
const HEAD_BYTES = 4;

export function createStoredFiles({ store, vault, tokens, newId, now }: StoredFilesDeps): StoredFiles {
  async function read(environmentId: EnvironmentId, id: string): Promise<FileContent | null> {
    const row = await store.read.storedContents.get(environmentId, 'file', id, now());
    return row ? unpack(vault.openBytes(contentContext(environmentId, id), row)) : null;
  }

  return {
    async keep(environmentId, account, file) {
      const id = newId('file');
      const createdAt = now();
      const expiresAt = createdAt + LIFETIME.fileMs;
      const size = file.bytes.length;
      const sealed = vault.sealBytes(contentContext(environmentId, id), pack(file));
      const { id: accountId, organizationId, userId } = account;
      const content = { id, kind: 'file' as const, accountId, organizationId, userId, size, createdAt, expiresAt };
      const kept = await store.write(async (tx) => {
        if ((await tx.storedContents.total(environmentId, 'file')) + size > STORED.filesBytes) return false;
        await tx.storedContents.insert(environmentId, { ...content, ...sealed });
        return true;
      });
      if (!kept) return null;
      const environment = await store.read.environments.get(environmentId);
      const token = tokens.seal(PURPOSE, [environmentId], id, expiresAt);
      return {
        file_id: id,
        ...file.summary(),
        url: `${environment?.baseUrl}/files/${token}`,
        expires_at: new Date(expiresAt).toISOString(),
      };
    },

    async load(environmentId, account, named) {
      await requireFiles(store.read, environmentId, account, named, now());
      const files = new Map<string, FileContent>();
      for (const id of new Set(named.map((file) => file.id))) {
        const file = await read(environmentId, id);
        if (file) files.set(id, file);
      }
      return files;
    },

    async open(environmentId, token) {
      const id = tokens.open(PURPOSE, [environmentId], token);
      return id === null ? null : read(environmentId, id);
    },
  };
}

/**
 * Checks that an input names only files that its account may use: its own files, and those of accounts with the same
 * owner. It also limits the number and total size of the files.
 *
 * @returns the total size in bytes; a file that is named twice counts twice
 * @throws ApiError INVALID_TOOL_INPUT for too many or too large files, or for the first file that may not be used. The
 * error does not reveal whether another owner has such a file
 */
export async function requireFiles(
  read: Pick<ReadRepositories, 'storedContents'>,
  environmentId: EnvironmentId,
  account: Owner,
  named: readonly NamedFile[],
  now: number,
): Promise<number> {
  const surplus = named[TOOL_REQUEST.files];
  if (surplus) throw inputProblem(surplus.field, `exceeds the limit of ${TOOL_REQUEST.files} stored files in one call`);
  let size = 0;
  for (const { field, id } of named) {
    const facts = await read.storedContents.describe(environmentId, 'file', id, now);
    if (!facts || !isOwn(facts, account)) {
      throw inputProblem(field, 'is not a file of this account or its owner, or has expired');
    }
    size += facts.size;
    if (size > STORED.callFilesBytes) {
      throw inputProblem(field, `makes the files of this call larger than ${STORED.callFilesBytes} bytes in total`);
    }
  }
  return size;
}

/** Whether an account may use a file. Two accounts without an owner do not share files. */
function isOwn(file: StoredContentFacts, { id, organizationId, userId }: Owner): boolean {
  if (file.accountId === id) return true;
  const owned = organizationId !== '' || userId !== '';
  return owned && file.organizationId === organizationId && file.userId === userId;
}

/**
 * Writes the name and type before the bytes, so that they are encrypted too: a file's name can be as confidential as
 * its content.
 */
function pack({ name, mediaType, bytes }: FileContent): Buffer {
  const head = Buffer.from(JSON.stringify({ name, mediaType }));
  const length = Buffer.alloc(HEAD_BYTES);
  length.writeUInt32BE(head.length);
  return Buffer.concat([length, head, bytes]);
}

function unpack(packed: Buffer): FileContent {
  const end = HEAD_BYTES + packed.readUInt32BE();
  const { name, mediaType } = JSON.parse(packed.toString('utf8', HEAD_BYTES, end));
  return new FileContent(name, mediaType, packed.subarray(end));
}
