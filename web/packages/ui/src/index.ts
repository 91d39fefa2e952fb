/** The parts every app is built from. Behaviour comes from react-aria-components, the look from tokens.css. */
export { Button, type ButtonProps } from './Button.tsx';
export { Link, type LinkProps } from './Link.tsx';
export { TextField, type TextFieldProps } from './TextField.tsx';
export { PasswordField, type PasswordFieldProps } from './PasswordField.tsx';
export { CodeField, digitsOf, type CodeFieldProps } from './CodeField.tsx';
export { Checkbox, type CheckboxProps } from './Checkbox.tsx';
export { Select, type SelectOption, type SelectProps } from './Select.tsx';
export { SearchField, type SearchFieldProps } from './SearchField.tsx';
export {
  Form,
  FormActions,
  ProblemSummary,
  type FormProps,
  type ProblemSummaryProps,
  type SummaryProblem,
} from './Form.tsx';
export { Callout, type CalloutProps } from './Callout.tsx';
export { Card, type CardProps } from './Card.tsx';
export { Spinner, type SpinnerProps } from './Spinner.tsx';
export { EmptyState, ErrorState, LoadingState, type StateProps } from './States.tsx';
export {
  Cell,
  ColumnHead,
  CopyableId,
  Table,
  type CellProps,
  type ColumnHeadProps,
  type TableProps,
} from './Table.tsx';
export { Colonnade, Logo, Mark, type LogoProps, type MarkProps } from './Logo.tsx';
export { names } from './names.ts';
