-- Lanes of writers, without rows: what a transaction locks before it looks at anything, shared with others or
-- for itself alone. Sites have one each by their number; where there is one writer, there are none.
{postgres}create table stoa.write_lane_0 ();
{postgres}create table stoa.write_lane_1 ();
{postgres}create table stoa.write_lane_2 ();
{postgres}create table stoa.write_lane_3 ();
{postgres}create table stoa.write_lane_4 ();
{postgres}create table stoa.write_lane_5 ();
{postgres}create table stoa.write_lane_6 ();
{postgres}create table stoa.write_lane_7 ();
{postgres}create table stoa.write_lane_8 ();
{postgres}create table stoa.write_lane_9 ();
{postgres}create table stoa.write_lane_10 ();
{postgres}create table stoa.write_lane_11 ();
{postgres}create table stoa.write_lane_12 ();
{postgres}create table stoa.write_lane_13 ();
{postgres}create table stoa.write_lane_14 ();
{postgres}create table stoa.write_lane_15 ();
