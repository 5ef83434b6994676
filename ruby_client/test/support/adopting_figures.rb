# frozen_string_literal: true

# Prints what each step of docs/adopting.md costs and gives:
#   ruby ruby_client/test/support/adopting_figures.rb
require 'tmpdir'
require_relative 'adopted_oracle'

puts '| after step | ms of a call | bytes of the tool messages | requests to the worker | pages read on |', '| --- | --- | --- | --- | --- |'
(0..AdoptedOracle::STEPS.length).each do |step|
  Dir.mktmpdir('adopting') do |folder|
    oracle = AdoptedOracle.new(folder)
    oracle.adopt(step)
    runs = Array.new(3) { oracle.run(calls: 1000) }
    run = runs.first
    milliseconds = runs.map { |one| one['seconds'] * 1000 }.sort[1].round(2)
    bytes = run['messages'].select { |message| message['role'] == 'tool' }.sum { |message| message['content'].bytesize }
    pages = run['continued'].count { |page| page['ok'] }
    puts "| #{step} | #{milliseconds} | #{bytes} | #{run['asked'].except('initialize', 'stats').values.sum} | #{pages} |"
  end
end
