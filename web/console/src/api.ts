import createClient from 'openapi-fetch';
import type { components, paths } from '../../../generated/api.d.ts';
import { accessToken, dropToken } from './session.ts';

export type Schemas = components['schemas'];

/** A response that is not a success, with the problem document of the API. */
export class ApiProblem extends Error {
  readonly status: number;
  readonly problem: Partial<Schemas['Problem']> & Record<string, unknown>;

  constructor(status: number, problem: Partial<Schemas['Problem']> & Record<string, unknown>) {
    super(problem.detail ?? problem.title ?? `The server returned ${status}.`);
    this.status = status;
    this.problem = problem;
  }
}

async function withToken(request: Request): Promise<Response> {
  const again = request.clone();
  const token = await accessToken();
  if (token) request.headers.set('authorization', `Bearer ${token}`);
  const response = await fetch(request);
  if (response.status !== 401 || !token) return response;
  dropToken();
  const fresh = await accessToken();
  if (!fresh) return response;
  again.headers.set('authorization', `Bearer ${fresh}`);
  return fetch(again);
}

export const api = createClient<paths>({ baseUrl: '/', fetch: withToken });

/**
 * Sends a request with the access token to an address that is not one of the contract's JSON operations, such as a
 * stream or an export.
 */
export async function fetchWithToken(path: string, init: RequestInit = {}): Promise<Response> {
  return withToken(new Request(new URL(path, location.href), init));
}

interface Answer<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** Returns the body of a successful response. @throws ApiProblem for any other response */
export async function take<T>(answer: Promise<Answer<T>>): Promise<NonNullable<T>> {
  const { data, error, response } = await answer;
  if (response.ok) return data as NonNullable<T>;
  throw new ApiProblem(
    response.status,
    typeof error === 'object' && error !== null ? (error as Record<string, unknown>) : {},
  );
}
