import { createHash } from 'node:crypto';
import { closeSync, constants, fdatasync, openSync, readFileSync, rmSync, write } from 'node:fs';
import { dirname } from 'node:path';
import { syncDirectory } from '../directory.ts';

/** The amount of data that a store has recorded as durable. */
export interface Claim {
  /** Identifies one run of the log from its beginning: SQLite chooses new salts each time. */
  salts: string;
  /** How many frames of that log were durable. */
  frames: number;
  /** How many rows were ever written, by table. These numbers never decrease. */
  totals: Record<string, number>;
}

/** Writes records alternately to two places, so that one of them is always complete. */
export interface MarkFile {
  write(claim: Claim, done: (error: Error | null) => void): void;
  sync(done: (error: Error | null) => void): void;
  close(): void;
}

const SLOT_BYTES = 512;
const DIGEST_LENGTH = 16;

/** The path of the mark file of a database. */
export function markPath(database: string): string {
  return `${database}-mark`;
}

/** Opens the mark file of a database; creates it if it does not exist (mode 0600). */
export function openMarkFile(database: string): MarkFile {
  const fd = openSync(markPath(database), constants.O_RDWR | constants.O_CREAT, 0o600);
  let slot = 0;
  return {
    write(claim, done) {
      slot = 1 - slot;
      write(fd, encode(claim), 0, SLOT_BYTES, slot * SLOT_BYTES, (error) => done(error));
    },
    sync: (done) => fdatasync(fd, done),
    close: () => closeSync(fd),
  };
}

/** @returns the readable records; none if there is no mark file */
export function readClaims(database: string): Claim[] {
  let bytes: Buffer;
  try {
    bytes = readFileSync(markPath(database));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  const slots = [bytes.subarray(0, SLOT_BYTES), bytes.subarray(SLOT_BYTES, 2 * SLOT_BYTES)];
  return slots.map(decode).filter((claim) => claim !== undefined);
}

/** Removes the mark file of a database, so that the database is no longer compared with the claims in it. */
export function removeMark(database: string): void {
  rmSync(markPath(database), { force: true });
  syncDirectory(dirname(database));
}

function encode(claim: Claim): Buffer {
  const text = JSON.stringify(claim);
  return Buffer.from(`${digest(text)} ${text}`.padEnd(SLOT_BYTES));
}

/** Decodes a record. A record that a power failure has interrupted does not match its digest. */
function decode(slot: Buffer): Claim | undefined {
  const text = slot.toString();
  const claim = text.slice(DIGEST_LENGTH + 1).trimEnd();
  return claim !== '' && text.startsWith(digest(claim)) ? JSON.parse(claim) : undefined;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, DIGEST_LENGTH);
}
