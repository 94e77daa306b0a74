import type { Jobs } from '../../core/capabilities/jobs.ts';
import { pageTokens, readPage, totalSize } from '../../core/paging.ts';
import { presentJob } from '../../core/present/job.ts';
import type { Handler } from '../../http/contract.ts';

export const listJobs: Handler<'listJobs', Jobs> = async (call, reply, { store, sealedTokens, now }) => {
  const { page_size: size, page_token: token, ...filters } = call.query;
  const environmentId = call.environment.id;
  const scope = { environmentId, list: 'listJobs', filters };
  const page = await store.read.jobs.pageOpen(environmentId, filters, readPage(sealedTokens, scope, token, size));
  return reply(200, {
    jobs: page.rows.map(presentJob),
    ...pageTokens(sealedTokens, scope, page, now()),
    ...totalSize(page),
  });
};
