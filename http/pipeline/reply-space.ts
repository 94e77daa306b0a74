import { STORED } from '../../core/budgets.ts';
import { ApiError } from '../../core/errors.ts';

/** The space that the requests of one client have reserved in this process. */
interface Client {
  requests: number;
  /** `taken`: bytes reserved by all requests, including ended ones. `settled`: bytes reserved by ended requests. */
  taken: number;
  settled: number;
}

/** The reservation of one request. */
export interface ReplyReservation {
  /**
   * Reserves the bytes of a response. A second call replaces the reservation of the first.
   *
   * @param stored how many bytes the client has stored, read after the reservation began
   * @param most the maximum number of bytes that the client may have stored
   * @returns whether there is space for them
   */
  take(bytes: number, stored: number, most: number): boolean;
  /** Ends the reservation after the transaction. */
  end(): void;
}

/**
 * Reserves space for the responses that are stored for idempotency keys. The stored size of a client is read before the
 * transaction, so without reservations, concurrent requests could use the same free space.
 */
export interface ReplySpace {
  begin(environmentId: string, clientId: string): ReplyReservation;
}

export function createReplySpace(): ReplySpace {
  const clients = new Map<string, Client>();
  return {
    begin(environmentId, clientId) {
      const name = `${environmentId} ${clientId}`;
      const client = clients.get(name) ?? { requests: 0, taken: 0, settled: 0 };
      clients.set(name, client);
      client.requests += 1;
      // Requests that end from now on may or may not be part of the stored size that is read next, so they stay
      // counted.
      const before = client.settled;
      let own = 0;
      return {
        take(bytes, stored, most) {
          client.taken -= own;
          own = stored + (client.taken - before) + bytes > most ? 0 : bytes;
          client.taken += own;
          return own === bytes;
        },
        end() {
          client.settled += own;
          client.requests -= 1;
          if (client.requests === 0) clients.delete(name);
        },
      };
    },
  };
}

/** Whether the client has reached its limit of stored bytes, so that it cannot use another key. */
export function isFull(keptBytes: number): boolean {
  return keptBytes + STORED.idempotencyKeyBytes > STORED.idempotencyBytes;
}

export function tooManyKeys(): ApiError {
  const detail =
    'The client has used too many idempotency keys within 24 hours. Send the request later, or without a key.';
  return new ApiError('RATE_LIMITED', detail);
}
