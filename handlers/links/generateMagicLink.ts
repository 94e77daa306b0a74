import { createLink } from '../../core/accounts/links/create-link.ts';
import type { Links } from '../../core/capabilities/links.ts';
import { ApiError } from '../../core/errors.ts';
import { presentLink } from '../../core/present/link.ts';
import type { Handler } from '../../http/contract.ts';
import { currentEnvironment } from '../current-environment.ts';

export const generateMagicLink: Handler<'generateMagicLink', Links> = (call, reply, links) =>
  call.commit(async (tx) => {
    const environment = await currentEnvironment(tx, call.environment.id);
    try {
      return reply(200, presentLink(await createLink(tx, links, environment, call.body, call.cause)));
    } catch (error) {
      // The error is returned and not thrown, so that the draft connection that `createLink` has created is committed:
      // the error names the draft and its callback URL.
      if (error instanceof ApiError && error.code === 'CONNECTION_NOT_READY') return call.problem(error);
      throw error;
    }
  });
