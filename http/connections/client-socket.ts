import type { IncomingMessage } from 'node:http';

/** The connection of a client. */
export type ClientSocket = IncomingMessage['socket'];
