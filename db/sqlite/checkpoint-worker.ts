import { parentPort, workerData } from 'node:worker_threads';
import Database from 'better-sqlite3';
import type { ThreadFailure } from './checkpoint-thread.ts';
import { openWriter } from './open.ts';

/** The thread for checkpoints: it moves the log on each message, until it receives the message to end. */
const client = openWriter(workerData as string);
client.pragma('wal_autocheckpoint = 0');

function move(): ThreadFailure | null {
  try {
    client.pragma('wal_checkpoint(passive)');
    return null;
  } catch (error) {
    if (!(error instanceof Database.SqliteError)) throw error;
    return { code: error.code, message: error.message };
  }
}

parentPort?.on('message', (order: 'move' | 'end') => {
  if (order === 'move') return parentPort?.postMessage(move());
  client.close();
  parentPort?.close();
});
