/** The usual steps besides sign-in, and its other ways in, in one file that is fetched once the first page stands. */
export { LaterStep } from './LaterStep.tsx';
export { OtherWays } from './OtherWays.tsx';
