import type { Webhooks } from '../../core/capabilities/webhooks.ts';
import { pageTokens, readPage, totalSize } from '../../core/paging.ts';
import { presentEvent } from '../../core/present/event.ts';
import { timeOf } from '../../core/text/rfc3339.ts';
import type { Handler } from '../../http/contract.ts';

export const listEvents: Handler<'listEvents', Webhooks> = async (call, reply, { store, sealedTokens, now }) => {
  const { page_size: size, page_token: token, ...filters } = call.query;
  const environmentId = call.environment.id;
  const scope = { environmentId, list: 'listEvents', filters };
  const page = await store.read.events.list(
    environmentId,
    {
      type: filters.type,
      subjectId: filters.subject_id,
      createdFrom: timeOf(filters.created_from),
      createdBefore: timeOf(filters.created_before),
    },
    readPage(sealedTokens, scope, token, size),
  );
  return reply(200, {
    events: page.rows.map(presentEvent),
    ...pageTokens(sealedTokens, scope, page, now()),
    ...totalSize(page),
  });
};
