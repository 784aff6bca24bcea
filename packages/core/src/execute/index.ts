/** The only way to a tool: what the validator accepted, once. */
export {
  createExecutor, idempotencyKeyOf,
  type Dispatch, type Execution, type ExecutionFailure, type ExecutionRecord, type ExecutionRefusal, type Executor, type ExecutorOptions, type Tool,
} from './executor.ts';
