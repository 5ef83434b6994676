# frozen_string_literal: true

require 'test_helper'

class RestartPolicyTest < Minitest::Test
  def setup
    @policy = RindBridge::RestartPolicy.new(restarts: 5, window: 180, pause: 0.1, cool_down: 60)
  end

  def test_a_worker_may_be_started_when_none_was_lost
    assert_equal 0, @policy.wait(0)
  end

  def test_the_first_loss_costs_no_pause_and_the_next_ones_growing_ones
    pauses = Array.new(4) do
      @policy.lost(100)
      @policy.wait(100).round(3)
    end

    assert_equal [0, 0.1, 0.2, 0.4], pauses
  end

  def test_the_fifth_loss_within_the_window_is_one_too_many
    assert_equal [false, false, false, false, true], (Array.new(5) { |time| @policy.lost(time) })
    assert_equal 60, @policy.wait(4)
    assert_equal 1, @policy.wait(63)
    assert_equal 0, @policy.wait(64)
  end

  def test_losses_outside_of_the_window_do_not_count
    5.times { |number| refute @policy.lost(number * 60) }
    assert_in_delta 0.2, @policy.wait(240)
  end

  def test_losses_to_calls_cost_no_pause_and_are_forgotten_with_the_next_answer
    10.times do
      4.times { refute @policy.lost(0, by_call: true) }
      assert_equal 0, @policy.wait(0)
      @policy.answered
    end
    4.times { @policy.lost(0, by_call: true) }

    assert @policy.lost(1, by_call: true)
    assert_equal 60, @policy.wait(1)
  end

  def test_an_answer_forgets_no_other_loss
    4.times { @policy.lost(0) }
    @policy.answered

    assert @policy.lost(1)
  end

  def test_after_the_cool_down_the_window_is_clean
    5.times { @policy.lost(0) }
    @policy.started

    refute_predicate @policy, :exhausted?
    refute @policy.lost(61)
    assert_equal 0, @policy.wait(61)
  end

  def test_a_start_within_the_window_forgets_no_loss
    4.times { @policy.lost(0) }
    @policy.started

    assert @policy.lost(1)
  end
end
