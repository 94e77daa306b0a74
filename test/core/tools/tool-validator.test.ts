import { expect } from 'chai';
import { ApiError } from '../../../core/errors.ts';
import { JobLimitError } from '../../../core/threads/job.ts';
import type { ThreadPool } from '../../../core/threads/pool.ts';
import { createToolValidator } from '../../../core/tools/tool-validator.ts';
import { providerOf, toolOf } from './samples.ts';

const FOLDER = new URL('../../../catalogue/', import.meta.url);

function validateWith(error: Error) {
  const pool: ThreadPool = { run: async () => Promise.reject(error), close: async () => {} };
  return createToolValidator(pool, FOLDER).validate('env', toolOf(), providerOf());
}

describe('H5: checking the definition of a tool', () => {
  it('reports its schemas as faulty when it takes too long', async () => {
    expect(await validateWith(new JobLimitError('time'))).to.deep.equal([
      { field: 'input_schema', message: 'takes too much time to compile; the cause can also be output_schema' },
    ]);
  });

  it('waits for a thread, or fails with the error of the pool', async () => {
    const error = await validateWith(new ApiError('SERVER_BUSY', 'later')).catch((thrown) => thrown);
    expect(error).to.include({ code: 'SERVER_BUSY' });
  });
});
