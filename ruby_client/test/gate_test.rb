# frozen_string_literal: true

require 'test_helper'
require 'timeout'

class GateTest < Minitest::Test
  def setup
    @gate = RindBridge::Gate.new
  end

  def test_it_gives_what_the_block_gives
    assert_equal 42, @gate.pass(soon) { 42 }
  end

  def test_one_thread_at_a_time_is_inside
    inside = most = 0
    threads = Array.new(8) do
      Thread.new do
        50.times do
          @gate.pass(later) do
            inside += 1
            most = [most, inside].max
            Thread.pass
            inside -= 1
          end
        end
      end
    end
    threads.each(&:join)

    assert_equal [1, 0], [most, inside]
  end

  def test_who_waits_gives_up_at_the_deadline
    holding do
      error = assert_raises(RindBridge::Unavailable) { @gate.pass(soon) { flunk } }
      assert_match(/busy until the deadline/, error.message)
    end
    assert_equal :free, @gate.pass(soon) { :free }
  end

  def test_who_is_inside_does_not_wait_for_itself
    @gate.pass(later) do
      error = assert_raises(RindBridge::Unavailable) { @gate.pass(later) { flunk } }
      assert_match(/from inside/, error.message)
    end
  end

  def test_it_is_free_after_an_exception
    assert_raises(ArgumentError) { @gate.pass(soon) { raise ArgumentError } }
    assert_equal :free, @gate.pass(soon) { :free }
  end

  def test_it_is_free_after_its_holder_was_killed
    holder = Thread.new { @gate.pass(later) { sleep } }
    Thread.pass until holder.stop?
    holder.kill.join

    assert_equal :free, @gate.pass(soon) { :free }
  end

  def test_a_killed_waiter_takes_nobody_elses_turn
    passed = Queue.new
    waiters = []
    holding do
      waiters = Array.new(6) { |number| Thread.new { @gate.pass(later) { passed << number } } }
      Thread.pass until waiters.all?(&:stop?)
      waiters.first(3).each(&:kill)
    end
    waiters.each(&:join)

    assert_equal [3, 4, 5], Array.new(passed.size) { passed.pop }.sort
  end

  def test_a_waiter_that_is_killed_just_as_it_is_woken_takes_nobody_elses_turn
    passed = Queue.new
    waiters = []
    @gate.pass(later) do
      waiters = Array.new(2) do |number|
        Thread.new { @gate.pass(later) { passed << number } }.tap { |waiter| Thread.pass until waiter.stop? }
      end
    end
    waiters.first.kill

    assert waiters.last.join(5), 'the second waiter was not woken'
    assert_includes Array.new(passed.size) { passed.pop }, 1
  end

  def test_an_interrupt_comes_only_where_the_holder_blocks
    steps = []
    interrupted = Thread.new do
      @gate.pass(later) do
        steps << :entered
        Thread.pass until steps.include?(:interrupted)
        steps << :unharmed
        sleep
      end
    end
    Thread.pass until steps.include?(:entered)
    interrupted.kill
    steps << :interrupted
    interrupted.join

    assert_equal %i[entered interrupted unharmed], steps
  end

  def test_a_forked_child_finds_it_free_whoever_was_inside
    holding do
      child = fork { exit!(@gate.pass(soon) { 7 }) }

      assert_equal 7, Process.wait2(child).last.exitstatus
    end
  end

  private

  def soon = RindBridge::Clock.now + 0.05
  def later = RindBridge::Clock.now + 30

  # Runs the block while another thread is inside.
  def holding
    leave = Queue.new
    holder = Thread.new { @gate.pass(later) { leave.pop } }
    Thread.pass until holder.stop?
    yield
  ensure
    leave << true
    holder.join
  end
end
